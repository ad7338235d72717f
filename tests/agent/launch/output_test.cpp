#include <gtest/gtest.h>

#include "agent/launch/output_tail.h"

namespace stepscope {
namespace {

using Lines = std::vector<std::string>;

TEST(OutputTail, KeepsTheLastTwentyLines) {
  OutputTail tail;
  for (int i = 0; i < 100; ++i) tail.Take("line " + std::to_string(i) + "\n");
  const Lines lines = tail.Lines();
  ASSERT_EQ(lines.size(), OutputTail::kLines);
  EXPECT_EQ(lines.front(), "line 80");
  EXPECT_EQ(lines.back(), "line 99");
  tail.Take("unfinished");
  EXPECT_EQ(tail.Lines().size(), OutputTail::kLines);
  EXPECT_EQ(tail.Lines().front(), "line 81");
}

TEST(OutputTail, TakesPiecesCutAnywhere) {
  OutputTail tail;
  for (const char* piece : {"fir", "st\nsec", "", "ond", "\nun", "finished"}) tail.Take(piece);
  EXPECT_EQ(tail.Lines(), (Lines{"first", "second", "unfinished"}));
}

TEST(OutputTail, ShowsAProgressBarAsATerminalDoes) {
  OutputTail tail;
  tail.Take(" 10%\r 20%\r 30%");
  EXPECT_EQ(tail.Lines(), Lines{" 30%"});
  tail.Take("\r\nnext\r\n");
  EXPECT_EQ(tail.Lines(), (Lines{" 30%", "next"}));
}

TEST(OutputTail, CutsLinesThatNeverEnd) {
  OutputTail tail;
  for (int i = 0; i < 1000; ++i) tail.Take(std::string(1000, 'x'));
  ASSERT_EQ(tail.Lines().size(), 1u);
  EXPECT_EQ(tail.Lines()[0].size(), OutputTail::kLineBytes);
}

std::string CleanOutputLine(const std::string& line) {
  const Lines clean = CleanOutputLines({line});
  return clean.empty() ? "" : clean[0];
}

TEST(CleanOutputLine, DropsTerminalSequencesAndControlCharacters) {
  EXPECT_EQ(CleanOutputLine("\x1b[1;31mred\x1b[0m\tblue\x07\x00"), "red blue");
  EXPECT_EQ(CleanOutputLine("\x1b]0;title\x07text"), "text");
  EXPECT_EQ(CleanOutputLine("cut \x1b[12"), "cut ");
  EXPECT_EQ(CleanOutputLine("cut \x1b"), "cut ");
  EXPECT_EQ(CleanOutputLine("bad \xff\xfe utf"), "bad \xef\xbf\xbd\xef\xbf\xbd utf");
}

TEST(CleanOutputLine, HidesWhatLooksLikeASecret) {
  const std::pair<const char*, const char*> cases[] = {
      {"password=hunter2 x", "password=*** x"},
      {"DB_PASSWORD: hunter2", "DB_PASSWORD: ***"},
      {R"({"api_key": "abc123"})", R"({"api_key": "***"})"},
      {"Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer ***"},
      {"postgres://user:word@host/db", "postgres://***@host/db"},
      {"key AKIAIOSFODNN7EXAMPLE found", "key *** found"},
      {"hf_abcdefghijklmnopqrstuvwxyz", "***"},
      {"-----BEGIN RSA PRIVATE KEY-----", "***"},
      {"WANDB_API_KEY=0123456789abcdef", "WANDB_API_KEY=***"},
      {"--token ghp_abcdefghijklmnopqrstuvwxyz012345", "--token ***"},
  };
  for (const auto& [line, clean] : cases) EXPECT_EQ(CleanOutputLine(line), clean);
}

TEST(CleanOutputLine, LeavesOrdinaryErrorsAlone) {
  for (const char* line : {
           "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB",
           "KeyError: 'layer1.0.weight'",
           "the tokenizer has 50257 tokens",
           "  File \"/home/me/train.py\", line 12, in <module>",
           "see https://pytorch.org/docs/stable/notes/cuda.html",
           "token budget reached",
       }) {
    EXPECT_EQ(CleanOutputLine(line), line);
  }
}

TEST(CleanOutputLines, HideAKeyOfSeveralLines) {
  const Lines lines = {"before", "-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBg", "c2hvcnQ=",
                       "",       "-----END PRIVATE KEY-----",   "after"};
  EXPECT_EQ(CleanOutputLines(lines), (Lines{"before", "***", "***", "***", "***", "after"}));
}

TEST(CleanOutputLine, SurvivesAnyBytes) {
  std::uint32_t random = 1;
  for (int i = 0; i < 3000; ++i) {
    std::string line;
    for (int j = 0; j < 40; ++j) {
      random = random * 1664525 + 1013904223;
      constexpr std::string_view kPieces[] = {"\x1b", "[",        "]",    "token", "=", ":",
                                              "\"",   "://",      "@",    "sk-",   " ", "a",
                                              "\xff", "password", "\x07", "9"};
      line += kPieces[(random >> 20) % std::size(kPieces)];
    }
    EXPECT_LE(CleanOutputLine(line).size(), 3 * line.size() + 3);
  }
}

}  // namespace
}  // namespace stepscope
