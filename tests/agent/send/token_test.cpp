#include "agent/send/token.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

struct TokenTest : testing::Test {
  test::FakeRoot folder;
  std::string file = folder.path() + "/token";
};

TEST_F(TokenTest, IsOneLineAndNothingElse) {
  EXPECT_FALSE(ReadToken(file).ok());
  for (const auto& [text, good] :
       std::initializer_list<std::pair<std::string, bool>>{{"st_agent_abc\n", true},
                                                           {"", false},
                                                           {"two words", false},
                                                           {"two\nlines", false},
                                                           {"a\r\nX: y", false},
                                                           {std::string(600, 'x'), false},
                                                           {std::string(100'000, 'x'), false}}) {
    folder.Write("/token", text);
    EXPECT_EQ(ReadToken(file).ok(), good) << text.substr(0, 20);
    EXPECT_EQ(Token::Make("", text).ok(), good || text.empty());
  }
}

TEST_F(TokenTest, IsNeverInAnError) {
  folder.Write("/token", "secret-one secret-two");
  EXPECT_EQ(ReadToken(file).error().message.find("secret"), std::string::npos);
  EXPECT_EQ(Token::Make("", "secret\n-one").error().message,
            "STEPSCOPE_TOKEN must hold one token and nothing else");
}

TEST_F(TokenTest, OfTheFileGoesBeforeTheGivenOne) {
  folder.Write("/token", "of-file\n");
  EXPECT_EQ(Token::Make(file, "given")->text(), "of-file");
  EXPECT_EQ(Token::Make("", " given\n")->text(), "given");
  EXPECT_EQ(Token::Make("", "")->text(), "");
  EXPECT_FALSE(Token::Make(folder.path() + "/none", "given").ok());
}

TEST_F(TokenTest, IsReadAgainAndKeptWhileTheFileIsNoGood) {
  folder.Write("/token", "one");
  auto token = Token::Make(file, "");
  EXPECT_FALSE(token->Refresh());
  folder.Write("/token", "");
  EXPECT_FALSE(token->Refresh());
  EXPECT_EQ(token->text(), "one");
  folder.Write("/token", "two");
  EXPECT_TRUE(token->Refresh());
  EXPECT_FALSE(token->Refresh());
  EXPECT_EQ(token->text(), "two");
  EXPECT_FALSE(Token::Make("", "given")->Refresh());
}

TEST_F(TokenTest, IsSaidToBeOpenWhenOthersMayReadIt) {
  folder.Write("/token", "one");
  for (const auto& [mode, good] : std::initializer_list<std::pair<mode_t, bool>>{
           {0600, true}, {0640, true}, {0644, false}, {0602, false}}) {
    chmod(file.c_str(), mode);
    EXPECT_EQ(CheckPrivate(file).ok(), good) << mode;
  }
  EXPECT_TRUE(CheckPrivate("").ok());
  EXPECT_NE(CheckPrivate(file).error().message.find(file), std::string::npos);
}

}  // namespace
}  // namespace stepscope
