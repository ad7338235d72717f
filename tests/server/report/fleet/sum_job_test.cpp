// Jobs that the real rules judged, summed up; the table in memory; the message of a week.

#include "server/report/fleet/sum_job.h"

#include "core/base/text.h"
#include "server/report/fleet/fleet_table.h"
#include "server/report/fleet/weekly.h"
#include "server/store/webhooks/weekly.h"
#include "tests/server/report/page/report_fixture.h"
#include "tests/support/fake_clock.h"

namespace stepscope::scenarios {
namespace {

class SumJobTest : public ReportTest {
 protected:
  JobHours Sum(std::int64_t job_id, bool judged = true) {
    auto hours = SumJob(*connection_, {job_id, judged, std::nullopt}, ToMicros(After(20'000)));
    EXPECT_TRUE(hours.ok()) << hours.error().message;
    return std::move(*hours);
  }
  std::size_t JobsIn(FleetTable& table) {
    clock_.Advance(3s);
    EXPECT_TRUE(table.Refresh(*connection_));
    return table.Read([](const FleetJobs& jobs) { return jobs.jobs.size(); });
  }
  JobHours Row(std::int64_t job_id) {
    JobHours hours;
    hours.job_id = job_id;
    hours.name = Format("job-{}", job_id);
    hours.from_us = 1;
    hours.to_us = 2;
    hours.written_us = job_id;
    Run("insert into jobs (job_id, name, created_us) overriding system value values ($1, $2, 0) "
        "on conflict do nothing",
        {job_id, hours.name});
    return hours;
  }

  test::FakeClock clock_;
};

TEST_F(SumJobTest, AJudgedJobIsHeldJudgedBusyAndLost) {
  const Job job = MakeJob(SixteenGpus());
  const std::int64_t job_id = Judge(job, true);
  Run("update nodes set facts = facts || '{\"user\": \"ann\", \"account\": \"physics\", \"gpus\": "
      "[{\"name\": \"H100\"}, {}, {}, {}, {}, {}, {}, {}]}' where job_id = $1",
      {job_id});
  const JobHours hours = Sum(job_id);
  EXPECT_EQ(hours.nodes, 2);
  EXPECT_EQ(hours.gpus, 16);
  EXPECT_EQ(hours.user, "ann");
  EXPECT_EQ(hours.account, "physics");
  EXPECT_EQ(hours.gpu, "H100");
  EXPECT_TRUE(hours.ended);
  EXPECT_TRUE(hours.settled);
  EXPECT_EQ(hours.verdict, "issues");
  EXPECT_GT(hours.issues, 0);
  ASSERT_TRUE(hours.judged_seconds);
  double lost = 0;
  for (const auto& [cause, seconds] : hours.lost_seconds) lost += seconds;
  EXPECT_NEAR(hours.busy_seconds + lost, *hours.judged_seconds, 1);
  EXPECT_LE(*hours.judged_seconds, double(*hours.to_us - *hours.from_us) / 1e6 * 16 + 16);
  EXPECT_FALSE(hours.sentence.empty());
}

// A cause that no other rule looks for is one issue of the job, here as in its report.
TEST_F(SumJobTest, ANamedCauseIsAnIssueWithoutAnotherRule) {
  const std::int64_t job_id = Judge(MakeJob(SixteenGpus()), true);
  Run("update rule_states s set status = 'NoIssuesFound' from rule_configs c where c.job_id = "
      "s.job_id and c.rule_config_id = s.rule_config_id and c.rule <> 'ProfilerReport'");
  const JobHours hours = Sum(job_id);
  EXPECT_EQ(hours.verdict, "issues");
  EXPECT_EQ(hours.issues, 1);
  EXPECT_EQ(Gather().verdict, JobVerdict::kIssues);
}

TEST_F(SumJobTest, SecondsOfImportedWindowsAreNoHoursOfGpus) {
  const std::int64_t job_id = Judge(MakeJob(SixteenGpus()), true);
  Run("update rule_states set verdict = jsonb_set(verdict, '{evidence,confidence}', "
      "'\"windows only\"') where verdict #> '{evidence,confidence}' is not null");
  const JobHours hours = Sum(job_id);
  EXPECT_FALSE(hours.judged_seconds);
  EXPECT_TRUE(hours.lost_seconds.empty());
  EXPECT_FALSE(hours.sentence.empty());
}

TEST_F(SumJobTest, ARunningJobIsSummedUpAgainAndASettledOneIsNot) {
  const std::int64_t job_id = Judge(MakeJob(SixteenGpus()), false);
  JobHours hours = Sum(job_id, false);
  EXPECT_FALSE(hours.settled);
  hours.written_us = 1'000;
  ASSERT_TRUE(SaveJobHours(*connection_, hours));
  const auto due = [&](std::int64_t before_us) {
    return ListUnsummedJobs(*connection_, before_us, 10)->size();
  };
  EXPECT_EQ(due(1'000), 0u);
  EXPECT_EQ(due(1'001), 1u);
  hours.settled = true;
  ASSERT_TRUE(SaveJobHours(*connection_, hours));
  EXPECT_EQ(due(1'001), 1u) << "its rules still have turns";
  Run("update rule_tasks set state = 'done', due_us = null");
  EXPECT_EQ(due(1'001), 0u);
}

TEST_F(SumJobTest, WrongFactsAreNotKnown) {
  const std::int64_t job_id = Judge(MakeJob(SixteenGpus()), true);
  Run("update nodes set facts = '{\"user\": 7, \"account\": null, \"gpus\": {\"count\": \"x\"}}'");
  const JobHours hours = Sum(job_id);
  EXPECT_EQ(hours.user, "");
  EXPECT_EQ(hours.gpus, 0);
}

TEST_F(SumJobTest, ADeletedJobIsNotWritten) {
  JobHours gone;
  gone.job_id = 77;
  ASSERT_TRUE(SaveJobHours(*connection_, gone));
  EXPECT_EQ(*CountJobHours(*connection_), 0);
  EXPECT_EQ(SumJob(*connection_, {77, true, std::nullopt}, 1).error().code, Code::kNotFound);
}

TEST_F(SumJobTest, TheTableFollowsNewChangedAndDeletedRows) {
  FleetTable table(clock_);
  ASSERT_TRUE(SaveJobHours(*connection_, Row(1)));
  EXPECT_EQ(JobsIn(table), 1u);
  ASSERT_TRUE(SaveJobHours(*connection_, Row(2)));
  ASSERT_TRUE(SaveJobHours(*connection_, Row(3)));
  EXPECT_EQ(JobsIn(table), 3u);
  Run("delete from job_hours where job_id = 2");
  EXPECT_EQ(JobsIn(table), 2u);
  JobHours changed = Row(3);
  changed.user = "ann";
  ASSERT_TRUE(SaveJobHours(*connection_, changed));
  EXPECT_EQ(JobsIn(table), 2u);
  EXPECT_TRUE(table.Read([](const FleetJobs& jobs) { return jobs.places.contains("ann"); }));
}

TEST_F(SumJobTest, TheTableIsBoundedAndSaysHowManyAreLeftOut) {
  for (const std::int64_t job_id : {1, 2, 3}) {
    ASSERT_TRUE(SaveJobHours(*connection_, Row(job_id)));
  }
  FleetTable table(clock_, 2);
  EXPECT_EQ(JobsIn(table), 2u);
  table.Read([](const FleetJobs& jobs) {
    EXPECT_EQ(jobs.left_out, 1);
    EXPECT_FALSE(jobs.by_id.contains(1)) << "the oldest";
  });
}

TEST_F(SumJobTest, EachWebhookThatAsksIsToldOnceAWeek) {
  Run("insert into webhooks (url, events, secret_sealed, created_us) values "
      "('https://a.example', '{fleet.weekly}', '', 1), ('https://b.example', '{}', '', 1), "
      "('https://c.example', '{fleet.weekly}', '', $1)",
      {ToMicros(After(0))});
  FleetTable table(clock_);
  const std::int64_t now_us = ToMicros(After(0));
  const auto told = TellWeek(*connection_, table, now_us, kUrl);
  ASSERT_TRUE(told.ok()) << told.error().message;
  EXPECT_EQ(*told, 1) << "not who did not ask, and not who was not there";
  EXPECT_EQ(*TellWeek(*connection_, table, now_us, kUrl), 0);
  const auto rows = connection_->Query("select body, sequence from deliveries");
  ASSERT_EQ(rows->size(), 1u);
  const auto body = ParseJson(rows->Text(0, 0));
  ASSERT_TRUE(body.ok());
  EXPECT_EQ((*body)["type"], "fleet.weekly");
  EXPECT_EQ((*body)["data"]["total"]["jobs"], 0);
  EXPECT_EQ(*TellWeek(*connection_, table, now_us + 8 * 86'400'000'000, kUrl), 2);
}

}  // namespace
}  // namespace stepscope::scenarios
