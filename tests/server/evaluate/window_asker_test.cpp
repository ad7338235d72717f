#include "server/evaluate/window_asker.h"

#include <gtest/gtest.h>

#include "server/store/jobs/window_costs.h"
#include "server/store/jobs/windows.h"
#include "tests/scenarios/stored_job.h"
#include "tests/support/fake_clock.h"
#include "tests/support/postgres.h"

namespace stepscope::scenarios {
namespace {

Scenario Even() {
  Scenario scenario;
  scenario.gpus = 0;
  scenario.stretches = {{600, 50, 50}};
  scenario.ranks = {{2s, 2'000, 200ms, 3, 0}};
  return scenario;
}

class WindowAskerTest : public testing::Test {
 protected:
  WindowAskerTest() : connection_(postgres_.Connect()), job_(MakeJob(Even())) {}

  // The agents of the job allow this, and are heard now.
  void Allow(StoredJob& stored, const std::string& allows, Time now) {
    stored.Seen(0, now);
    const auto done = connection_->Query(
        "update nodes set facts = facts || jsonb_build_object('allows', $2::text::jsonb), ended_us "
        "= null "
        "where job_id = $1",
        {stored.job_id(), allows});
    ASSERT_TRUE(done.ok()) << done.error().message;
  }
  std::vector<WindowRow> Windows(const StoredJob& stored) {
    return ListWindows(*connection_, stored.job_id(), "", 50)->items;
  }

  TestDatabase postgres_;
  std::unique_ptr<stepscope::Connection> connection_;
  Job job_;
};

TEST_F(WindowAskerTest, AsksOnceOfAgentsThatAllowIt) {
  StoredJob stored(*connection_, job_);
  const Time now = job_.origin + 200s;
  stored.StoreUntil(now);
  test::FakeClock clock(now);
  WindowAsker asker(clock);
  Allow(stored, R"(["interval", "spans", "window"])", now);
  ASSERT_TRUE(asker.Consider(*connection_, stored.job_id()).ok());
  EXPECT_TRUE(Windows(stored).empty()) << "only when somebody asks";

  Allow(stored, R"(["interval", "spans", "window", "automatic"])", now);
  ASSERT_TRUE(asker.Consider(*connection_, stored.job_id()).ok());
  EXPECT_TRUE(Windows(stored).empty()) << "it has looked at this job just now";
  WindowAsker another(clock);
  const Status considered = another.Consider(*connection_, stored.job_id());
  ASSERT_TRUE(considered.ok()) << considered.error().message;
  const auto windows = Windows(stored);
  ASSERT_EQ(windows.size(), 1u) << *ReadWindowNote(*connection_, stored.job_id());
  EXPECT_EQ(windows[0].asked_by, "early");
  EXPECT_TRUE(windows[0].operators);
  EXPECT_EQ(windows[0].num_steps, 4);
  EXPECT_GT(windows[0].start_step, 1'000);

  WindowAsker third(clock);
  ASSERT_TRUE(third.Consider(*connection_, stored.job_id()).ok());
  EXPECT_EQ(Windows(stored).size(), 1u);
}

TEST_F(WindowAskerTest, SaysWhyItDoesNot) {
  StoredJob stored(*connection_, job_);
  const Time now = job_.origin + 30s;
  stored.StoreUntil(now);
  Allow(stored, R"(["spans", "window", "automatic"])", now);
  test::FakeClock clock(now);
  WindowAsker asker(clock);
  ASSERT_TRUE(asker.Consider(*connection_, stored.job_id()).ok());
  EXPECT_TRUE(Windows(stored).empty());
  const std::string note = *ReadWindowNote(*connection_, stored.job_id());
  EXPECT_NE(note.find("0.3 % of the job's time"), std::string::npos) << note;
}

// Steps of 200 ms of which each 50th takes 2 s longer; PeriodicStall fires.
TEST_F(WindowAskerTest, ForSlowStepsThatRecurItAsksForTheNext) {
  Scenario scenario = Even();
  scenario.stretches = {{2'000, 50, 50}};
  Job job = MakeJob(scenario);
  Time start = job.origin + 2s;
  for (Step& step : job.ranks[0].steps) {
    if (step.number % 50 == 49) step.wall += 2s;
    step.start = start;
    start += step.wall;
  }
  StoredJob stored(*connection_, job);
  const Time now = job.origin + 400s;
  stored.StoreUntil(now);
  Allow(stored, R"(["spans", "window", "automatic"])", now);
  const Step* slow = nullptr;
  for (const Step& step : job.ranks[0].steps) {
    if (step.number % 50 == 49 && step.start + step.wall < now) slow = &step;
  }
  ASSERT_NE(slow, nullptr);
  const Json verdict = {{"evidence",
                         {{"ranks",
                           {{{"rank", 0},
                             {"rhythms",
                              {{{"every_steps", 50},
                                {"cost", 0.16},
                                {"fires", true},
                                {"active", true},
                                {"to_us", ToMicros(slow->start + slow->wall)}}}}}}}}}};
  const auto fires = connection_->Query(
      "update rule_states set status = $2, verdict = $3 from rule_configs c "
      "where rule_states.job_id = $1 and c.job_id = $1 and c.rule = 'PeriodicStall' "
      "and rule_states.rule_config_id = c.rule_config_id",
      {stored.job_id(), std::string(ToText(RuleStatus::kIssuesFound)), Dump(verdict)});
  ASSERT_TRUE(fires.ok()) << fires.error().message;
  test::FakeClock clock(now);
  WindowAsker asker(clock);
  const Status considered = asker.Consider(*connection_, stored.job_id());
  ASSERT_TRUE(considered.ok()) << considered.error().message;
  const auto windows = Windows(stored);
  ASSERT_EQ(windows.size(), 1u) << *ReadWindowNote(*connection_, stored.job_id());
  EXPECT_EQ(windows[0].asked_by, "PeriodicStall");
  EXPECT_EQ((windows[0].start_step + 2) % 50, 49) << windows[0].start_step;
  EXPECT_GT(windows[0].start_step, slow->number);
}

}  // namespace
}  // namespace stepscope::scenarios
