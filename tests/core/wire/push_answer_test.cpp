#include "core/wire/push_answer.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr char kAnswer[] = R"({"acknowledged":1,"expected":2,"rejected":[],"server_time_us":5)";

std::vector<ServiceCommand> CommandsOf(const std::string& commands) {
  const auto answer = DecodePushAnswer(std::string(kAnswer) + R"(,"commands":)" + commands + "}");
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? answer->commands : std::vector<ServiceCommand>();
}

TEST(PushAnswer, CarriesWhatTheAgentIsAskedFor) {
  PushAnswer answer;
  answer.commands = {{"interval-3", "interval", 250}};
  const auto read = DecodePushAnswer(EncodePushAnswer(answer));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->commands.size(), 1u);
  EXPECT_EQ(read->commands[0].id, "interval-3");
  EXPECT_EQ(read->commands[0].kind, "interval");
  EXPECT_EQ(read->commands[0].interval_ms, 250);
}

TEST(PushAnswer, CarriesTheStepsOfAWindow) {
  PushAnswer answer;
  answer.commands = {{"window-7", "window", 0, 1000, 5}};
  const auto read = DecodePushAnswer(EncodePushAnswer(answer));
  ASSERT_EQ(read->commands.size(), 1u);
  EXPECT_EQ(read->commands[0].kind, kWindowCommand);
  EXPECT_EQ(read->commands[0].start_step, 1000);
  EXPECT_EQ(read->commands[0].num_steps, 5);
}

TEST(PushAnswer, HasNoCommandsWhereNothingIsAsked) {
  EXPECT_EQ(EncodePushAnswer(PushAnswer()).find("commands"), std::string::npos);
  EXPECT_TRUE(DecodePushAnswer(std::string(kAnswer) + "}")->commands.empty());
}

TEST(PushAnswer, KeepsAKindThatIsNotKnownHere) {
  const auto commands = CommandsOf(R"([{"id":"stop-1","kind":"stop","steps":[3,4]}])");
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].kind, "stop");
}

TEST(PushAnswer, LeavesOutWhatIsNoCommand) {
  EXPECT_TRUE(CommandsOf("7").empty());
  EXPECT_TRUE(CommandsOf(R"([1, null, "x", {}, {"kind":"interval"}, {"id":4}])").empty());
  EXPECT_TRUE(CommandsOf(R"([{"id":")" + std::string(65, 'x') + R"("}])").empty());
  EXPECT_EQ(CommandsOf(R"([{"id":"a","kind":"interval","interval_ms":-5}])")[0].interval_ms, 0);
  std::string many = R"([{"id":"a"})";
  for (int i = 0; i < 1'000; ++i) many += R"(,{"id":"a"})";
  EXPECT_EQ(CommandsOf(many + "]").size(), 16u);
}

}  // namespace
}  // namespace stepscope
