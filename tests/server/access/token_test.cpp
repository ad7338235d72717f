#include "server/access/token.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <set>

#include "server/access/base62.h"
#include "server/access/digest.h"

namespace stepscope {
namespace {

constexpr Role kRoles[] = {Role::kAgent, Role::kReader, Role::kOperator, Role::kAdmin};

TEST(Token, WhatIsMadeIsRead) {
  for (const Role role : kRoles) {
    const Result<NewToken> token = MakeToken(role);
    ASSERT_TRUE(token.ok());
    const auto parts = ParseToken(token->text);
    ASSERT_TRUE(parts.has_value()) << token->text;
    EXPECT_EQ(parts->role, role);
    EXPECT_EQ(parts->id, token->id);
    EXPECT_EQ(Sha256(parts->secret), token->secret_hash);
    EXPECT_TRUE(token->text.starts_with("st_" + std::string(ToText(role)) + "_" + token->id + "_"));
  }
}

TEST(Token, TheTextKeepsItsFormFromVersionToVersion) {
  const auto parts = ParseToken("st_reader_0000000A_0123456789ABCDEFGHIJKLMNOPQRSTUV3Lxe0x");
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->role, Role::kReader);
  EXPECT_EQ(parts->id, "0000000A");
  EXPECT_EQ(parts->secret, "0123456789ABCDEFGHIJKLMNOPQRSTUV");
}

TEST(Token, NoTwoAreTheSame) {
  std::set<std::string> ids, hashes;
  for (int count = 0; count < 500; ++count) {
    const Result<NewToken> token = MakeToken(Role::kAgent);
    ids.insert(token->id);
    hashes.insert(token->secret_hash);
  }
  EXPECT_EQ(ids.size(), 500U);
  EXPECT_EQ(hashes.size(), 500U);
}

// An id that differs in one letter would cost a question to the database.
TEST(Token, EveryTypingErrorIsFoundByTheCheck) {
  const std::string text = MakeToken(Role::kOperator)->text;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char letter : kBase62) {
      std::string wrong = text;
      wrong[at] = letter;
      EXPECT_EQ(ParseToken(wrong).has_value(), wrong == text) << wrong;
    }
  }
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    std::string swapped = text;
    std::swap(swapped[at], swapped[at + 1]);
    EXPECT_EQ(ParseToken(swapped).has_value(), swapped == text) << swapped;
  }
}

TEST(Token, ShorterLongerAndOddTextsAreNone) {
  const std::string text = MakeToken(Role::kAgent)->text;
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(ParseToken(text.substr(0, length)).has_value());
    EXPECT_FALSE(ParseToken(text.substr(text.size() - length)).has_value());
  }
  for (const std::string& odd :
       {text + "0", " " + text, text + " ", text + "\n", text + std::string(1, '\0'), "ST" + text,
        std::string("st_none_"), std::string("st___"), std::string(100'000, '_')}) {
    EXPECT_FALSE(ParseToken(odd).has_value());
  }
}

TEST(Token, AnyBytesAreTaken) {
  std::mt19937 random(1);
  const std::string text = MakeToken(Role::kReader)->text;
  for (int count = 0; count < 200'000; ++count) {
    std::string bytes = text;
    for (int changes = static_cast<int>(random() % 4) + 1; changes > 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    bytes.resize(bytes.size() - random() % 3);
    EXPECT_EQ(ParseToken(bytes).has_value(), bytes == text) << bytes;
  }
}

TEST(Token, TheSecretHasAtLeast190Bits) {
  EXPECT_GE(std::log2(double(kBase62.size())) * double(kSecretLetters), 190);
}

// 62,000 letters: each is expected 1,000 times, with a deviation of 31.
TEST(Token, EveryLetterIsDrawnAsOftenAsTheOthers) {
  std::array<int, 256> counts{};
  const Result<std::string> drawn = RandomBase62(62'000);
  for (const char letter : *drawn) counts[static_cast<unsigned char>(letter)]++;
  for (const char letter : kBase62) {
    EXPECT_NEAR(counts[static_cast<unsigned char>(letter)], 1'000, 200) << letter;
  }
}

TEST(Digest, DiffersWhereverTheBytesDo) {
  const std::string one = Sha256("secret");
  EXPECT_TRUE(SameDigest(one, Sha256("secret")));
  for (std::size_t at = 0; at < one.size(); ++at) {
    std::string other = one;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_FALSE(SameDigest(one, other));
  }
  EXPECT_FALSE(SameDigest(one, one.substr(1)));
}

}  // namespace
}  // namespace stepscope
