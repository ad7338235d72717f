#include "agent/app/job/execute_command.h"

#include <gtest/gtest.h>

#include <vector>

namespace stepscope {
namespace {

Duration Now(const Guarded<Duration>& interval) {
  return interval.Read([](Duration value) { return value; });
}

TEST(ExecuteCommand, ChangesTheInterval) {
  Guarded<Duration> interval(500ms);
  EXPECT_EQ(ExecuteCommand({"interval-1", "interval", 250}, Allowed{}, {interval}), "");
  EXPECT_EQ(Now(interval), 250ms);
}

TEST(ExecuteCommand, RefusesWhatItWasNotStartedWith) {
  Guarded<Duration> interval(500ms);
  EXPECT_EQ(ExecuteCommand({"interval-1", "interval", 250}, *ParseAllowed("none"), {interval}),
            "the agent was started without --allow interval");
  EXPECT_EQ(Now(interval), 500ms);
}

TEST(ExecuteCommand, RefusesWhatItDoesNotKnowAndWhatIsOutOfRange) {
  Guarded<Duration> interval(500ms);
  EXPECT_EQ(ExecuteCommand({"a", "dance", 0}, Allowed{}, {interval}),
            "this agent does not know 'dance'");
  EXPECT_EQ(ExecuteCommand({"a", "interval", 99}, Allowed{}, {interval}),
            "99 ms is not between 100 and 60000");
  EXPECT_NE(ExecuteCommand({"a", "interval", INT64_MAX}, Allowed{}, {interval}), "");
  EXPECT_NE(ExecuteCommand({"a", "interval", 0}, Allowed{}, {interval}), "");
  EXPECT_EQ(Now(interval), 500ms);
}

ServiceCommand Window(std::int64_t start_step, std::int64_t num_steps) {
  return {"window-1", "window", 0, start_step, num_steps};
}

TEST(ExecuteCommand, AsksTheRanksForAWindowWhereThatIsAllowed) {
  Guarded<Duration> interval(500ms);
  std::vector<std::string> asked;
  const AskRanks ask = [&](const std::string& command, const std::string& argument) {
    asked = {command, argument};
    return std::size_t{2};
  };
  EXPECT_EQ(ExecuteCommand(Window(1000, 5), Allowed{}, {interval, ask}),
            "the agent was started without --allow window");
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(ExecuteCommand(Window(1000, 5), *ParseAllowed("window"), {interval, ask}), "");
  EXPECT_EQ(asked, (std::vector<std::string>{"window", "window 5 steps from step 1000"}));
}

TEST(ExecuteCommand, AsksForOperatorsWithTheSpansOfAWindow) {
  Guarded<Duration> interval(500ms);
  SpanWindow kept;
  const KeepSpans keep = [&](const SpanWindow& window) {
    kept = window;
    return std::string();
  };
  ServiceCommand command{.id = "spans-3", .kind = "spans", .start_step = 10, .num_steps = 5};
  command.window_id = 3;
  command.operators = true;
  EXPECT_EQ(ExecuteCommand(command, *ParseAllowed("spans,window"), {interval, nullptr, keep}), "");
  EXPECT_EQ(kept.ask, "window 5 steps from step 10 for window 3");
  EXPECT_EQ(kept.remark, "");
  command.shapes = true;
  EXPECT_EQ(ExecuteCommand(command, *ParseAllowed("spans,window"), {interval, nullptr, keep}), "");
  EXPECT_EQ(kept.ask, "window 5 steps from step 10 for window 3 with shapes");
  EXPECT_EQ(ExecuteCommand(command, *ParseAllowed("spans"), {interval, nullptr, keep}), "");
  EXPECT_EQ(kept.ask, "");
  EXPECT_NE(kept.remark, "");
}

ServiceCommand Spans(std::int64_t start_step, std::int64_t num_steps) {
  return {.id = "spans-3",
          .kind = "spans",
          .start_step = start_step,
          .num_steps = num_steps,
          .window_id = 3,
          .wait_seconds = 90};
}

TEST(ExecuteCommand, KeepsSpansUnlessItIsToldNotTo) {
  Guarded<Duration> interval(500ms);
  SpanWindow kept;
  const KeepSpans keep = [&](const SpanWindow& window) {
    kept = window;
    return std::string();
  };
  EXPECT_EQ(ExecuteCommand(Spans(1000, 5), Allowed{}, {interval, nullptr, keep}), "");
  EXPECT_EQ(kept.window_id, 3);
  EXPECT_EQ(kept.first, 1000);
  EXPECT_EQ(kept.last, 1004);
  EXPECT_EQ(kept.command, "spans-3");
  EXPECT_EQ(kept.wait, 90s);
  for (const char* allowed : {"none", "interval,stop"}) {
    EXPECT_EQ(ExecuteCommand(Spans(1000, 5), *ParseAllowed(allowed), {interval, nullptr, keep}),
              "the agent was started without --allow spans");
  }
}

TEST(ExecuteCommand, RefusesSpansOfNoSteps) {
  Guarded<Duration> interval(500ms);
  const KeepSpans keep = [](const SpanWindow&) { return std::string(); };
  for (const auto& [start, count] : {std::pair<std::int64_t, std::int64_t>{-1, 5},
                                     {0, 0},
                                     {0, 1001},
                                     {INT64_MAX, 1},
                                     {0, INT64_MIN}}) {
    EXPECT_NE(ExecuteCommand(Spans(start, count), Allowed{}, {interval, nullptr, keep}), "");
  }
  EXPECT_EQ(ExecuteCommand(Spans(0, 1), Allowed{}, {interval}),
            "this agent hears no training processes");
}

TEST(ExecuteCommand, RefusesAWindowThatIsNoneOrThatNobodyHearsOf) {
  Guarded<Duration> interval(500ms);
  const Allowed allowed = *ParseAllowed("interval,window");
  const AskRanks ask = [](const std::string&, const std::string&) { return std::size_t{0}; };
  EXPECT_EQ(ExecuteCommand(Window(0, 1), allowed, {interval, ask}),
            "no training process is connected");
  EXPECT_EQ(ExecuteCommand(Window(0, 1), allowed, {interval}), "no training process is connected");
  EXPECT_EQ(ExecuteCommand(Window(7, 0), allowed, {interval, ask}),
            "0 steps from step 7 are no window of 1 to 1000 steps");
  EXPECT_NE(ExecuteCommand(Window(-1, 5), allowed, {interval, ask}), "");
  EXPECT_NE(ExecuteCommand(Window(0, 1001), allowed, {interval, ask}), "");
}

TEST(ExecuteCommand, BeginsToStopWhereThatIsAllowedAndThereIsACommand) {
  Guarded<Duration> interval(500ms);
  int stopped = 0;
  const auto stop = [&] { ++stopped; };
  const ServiceCommand command = {.id = "stop-1", .kind = "stop"};
  EXPECT_EQ(
      ExecuteCommand(command, *ParseAllowed("interval,window"), {interval, nullptr, nullptr, stop}),
      "the agent was started without --allow stop");
  EXPECT_EQ(stopped, 0);
  EXPECT_EQ(ExecuteCommand(command, *ParseAllowed("stop"), {interval, nullptr, nullptr, stop}), "");
  EXPECT_EQ(stopped, 1);
  EXPECT_EQ(ExecuteCommand(command, *ParseAllowed("stop"), {interval}),
            "this agent did not start the processes; stepscope-agent run does");
}

TEST(Allow, IsAListOfWordsOrNone) {
  constexpr Allowed kNone{.interval = false, .spans = false};
  EXPECT_EQ(ParseAllowed("interval,spans").value(), Allowed());
  EXPECT_EQ(ParseAllowed("none").value(), kNone);
  EXPECT_EQ(AllowedWords(*ParseAllowed("window")), std::vector<std::string>{"window"});
  EXPECT_EQ(AllowedWords(*ParseAllowed("stop,interval")),
            (std::vector<std::string>{"interval", "stop"}));
  EXPECT_EQ(AllowedWords(*ParseAllowed("stop,window,spans,interval")),
            (std::vector<std::string>{"interval", "spans", "window", "stop"}));
  EXPECT_EQ(AllowedWords(*ParseAllowed("none")), std::vector<std::string>());
  for (const char* text : {"", "kill", "interval,none", "Interval", "interval,", ",window"}) {
    EXPECT_FALSE(ParseAllowed(text)) << text;
  }
}

}  // namespace
}  // namespace stepscope
