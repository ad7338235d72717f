#include "server/app/commands/token_command.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <vector>

#include "core/base/text.h"
#include "server/access/token.h"
#include "server/app/commands/token_options.h"
#include "server/app/service_database.h"
#include "server/store/access/audit.h"
#include "server/store/access/tokens.h"
#include "tests/support/fake_root.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

const Time kTokenNow = FromMicros(1'800'000'000'000'000);

// The id in the token that went to standard output.
std::string IdIn(const std::string& out) {
  const auto parts = ParseToken(Trim(out));
  return parts ? std::string(parts->id) : "";
}

class TokenCommandTest : public testing::Test {
 protected:
  Result<TokenAnswer> Create(std::vector<const char*> words) {
    const Result<Arguments> arguments = ReadVerb(TokenCreate(), words);
    return arguments ? CreateToken(*connection_, *arguments, kTokenNow)
                     : Result<TokenAnswer>(arguments.error());
  }
  Result<TokenAnswer> Revoke(const char* id) {
    return RevokeOneToken(*connection_, *ReadVerb(TokenRevoke(), std::vector{id}), kTokenNow);
  }
  std::string List(Time now = kTokenNow) {
    return ListAllTokens(*connection_, *ReadVerb(TokenList(), {}), now)->out;
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_ = database_.Connect();
};

TEST_F(TokenCommandTest, ATokenGoesToStandardOutputAlone) {
  const auto answer = Create({"--role", "agent", "--name", "team-a", "--scope", "a-*, b"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  ASSERT_TRUE(answer->out.ends_with('\n'));
  const std::string text = answer->out.substr(0, answer->out.size() - 1);
  const auto parts = ParseToken(text);
  ASSERT_TRUE(parts.has_value()) << text;
  EXPECT_EQ(answer->note.find(parts->secret), std::string::npos);

  const auto token = FindToken(*connection_, std::string(parts->id));
  ASSERT_TRUE(token.ok() && *token);
  EXPECT_EQ((*token)->role, "agent");
  EXPECT_EQ((*token)->scopes, (std::vector<std::string>{"a-*", "b"}));
  EXPECT_EQ((*token)->expires_us, ToMicros(kTokenNow + std::chrono::hours(24 * 365)));
}

TEST_F(TokenCommandTest, WhatIsMissingOrWrongIsNamed) {
  const std::pair<std::vector<const char*>, const char*> cases[] = {
      {{"--name", "x"}, "--role"},
      {{"--role", "agent"}, "--name"},
      {{"--role", "root", "--name", "x"}, "role"},
      {{"--role", "agent", "--name", "x", "--scope", "a b"}, "scope"},
      {{"--role", "admin", "--name", "x", "--scope", "a"}, "scopes"},
      {{"--role", "reader", "--name", "x", "--nodes", "a"}, "nodes"},
      {{"--role", "agent", "--name", "certificate:x"}, "name"},
      {{"--role", "agent", "--name", "x", "--expires", "0"}, "expires"},
      {{"--role", "agent", "--name", "x", "--expires", "x"}, "--expires"},
      {{"--role", "agent", "--name", "x", "--secret", "x"}, "--secret"},
  };
  for (const auto& [words, named] : cases) {
    const auto answer = Create(words);
    ASSERT_FALSE(answer.ok()) << named;
    EXPECT_EQ(answer.error().code, Code::kInvalid);
    EXPECT_NE(answer.error().message.find(named), std::string::npos) << answer.error().message;
  }
  EXPECT_EQ(List(), "");
}

TEST_F(TokenCommandTest, ATokenMayBeForSomeNodes) {
  const auto answer = Create({"--role", "agent", "--name", "a", "--nodes", "speech-*, old-7"});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_NE(answer->note.find("all jobs on nodes speech-*,old-7"), std::string::npos);
  const auto token = FindToken(*connection_, IdIn(answer->out));
  ASSERT_TRUE(token.ok() && *token);
  EXPECT_EQ((*token)->nodes, (std::vector<std::string>{"speech-*", "old-7"}));
}

TEST_F(TokenCommandTest, TheListSaysWhatBecameOfEach) {
  const std::string id = IdIn(Create({"--role", "reader", "--name", "r"})->out);
  EXPECT_EQ(id.size(), 8U);
  EXPECT_NE(List().find(id + "  reader    valid"), std::string::npos) << List();
  EXPECT_NE(List(kTokenNow + std::chrono::hours(24 * 366)).find("expired"), std::string::npos);
  ASSERT_TRUE(Revoke(id.c_str()).ok());
  EXPECT_NE(List().find(id + "  reader    revoked"), std::string::npos) << List();
  EXPECT_EQ(Revoke("00000000").error().code, Code::kNotFound);
}

TEST_F(TokenCommandTest, ChangesAreWrittenDownWithTheUser) {
  const std::string id = IdIn(Create({"--role", "reader", "--name", "r"})->out);
  ASSERT_TRUE(Revoke(id.c_str()).ok());
  const auto audit = ListAudit(*connection_, "", 10);
  ASSERT_EQ(audit->items.size(), 2U);
  EXPECT_EQ(audit->items[0].action, "token.revoke");
  EXPECT_EQ(audit->items[0].target, id);
  EXPECT_NE(audit->items[0].name.find("(command line)"), std::string::npos);
}

TEST(ServiceDatabase, IsStartedForTheMomentAndFoundWhileItRuns) {
  const test::FakeRoot root;
  chmod(root.path().c_str(), 0755);  // PostgreSQL runs as another user when we are root
  Settings settings;
  settings.data_dir = root.path() + "/data";
  const Result<ServiceDatabase> first = OpenServiceDatabase(settings);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_NE(first->postgres, nullptr);
  const Result<ServiceDatabase> second = OpenServiceDatabase(settings);
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(second->postgres, nullptr);
  EXPECT_TRUE(second->connection->Query("select count(*) from tokens").ok());
}

TEST(TokenOptions, EveryVerbExplainsItselfWithAnExample) {
  for (const TokenVerb& verb : {TokenCreate(), TokenList(), TokenRevoke()}) {
    const std::string help = HelpOf(verb);
    EXPECT_NE(help.find("  stepscope-server token " + std::string(verb.name)), std::string::npos);
    EXPECT_NE(help.find("--data-dir"), std::string::npos);
    EXPECT_NE(help.find("--database-url"), std::string::npos);
  }
}

}  // namespace
}  // namespace stepscope
