// Hours of GPUs, added up.

#include "server/report/fleet/fleet.h"

#include <gtest/gtest.h>

#include "server/report/fleet/fleet_json.h"
#include "server/report/fleet/weekly.h"

namespace stepscope {
namespace {

constexpr std::int64_t kHourUs = 3'600'000'000;
constexpr std::int64_t kBeginUs = 1'795'000'000'000'000;

// A job of two GPUs and two hours of which all was judged but half an hour: half busy, and a
// quarter each lost to preprocessing and communication.
JobHours Hours(std::int64_t job_id, const std::string& user, std::int64_t from_us = kBeginUs) {
  JobHours hours;
  hours.job_id = job_id;
  hours.name = user + "-" + std::to_string(job_id);
  hours.group = "resnet";
  hours.user = user;
  hours.gpu = "H100";
  hours.gpus = 2;
  hours.from_us = from_us;
  hours.to_us = from_us + 2 * kHourUs;
  hours.ended = true;
  hours.judged_seconds = 3.5 * 3600;
  hours.busy_seconds = 1.75 * 3600;
  hours.lost_seconds = {{"preprocessing", 0.875 * 3600}, {"communication", 0.875 * 3600}};
  hours.verdict = "issues";
  hours.issues = 2;
  hours.written_us = kBeginUs;
  return hours;
}

FleetJobs Of(const std::vector<JobHours>& all) {
  FleetJobs jobs;
  for (const JobHours& hours : all) jobs.Put(hours);
  return jobs;
}

FleetQuestion Within(std::int64_t from_us, std::int64_t to_us, FleetBy by = FleetBy::kUser) {
  FleetQuestion question;
  question.from_us = from_us;
  question.to_us = to_us;
  question.by = by;
  return question;
}

TEST(SumFleet, HeldHoursAreJudgedOrNotAndJudgedOnesBusyOrLost) {
  const Fleet fleet =
      SumFleet(Of({Hours(1, "ann"), Hours(2, "bob")}), Within(kBeginUs, kBeginUs + kWeekUs));
  EXPECT_EQ(fleet.total.jobs, 2);
  EXPECT_NEAR(fleet.total.held / 3600, 8, 1e-6);
  EXPECT_NEAR(fleet.total.judged / 3600, 7, 1e-3);
  EXPECT_NEAR(fleet.total.busy / 3600, 3.5, 1e-3);
  EXPECT_NEAR(fleet.total.Lost() / 3600, 3.5, 1e-3);
  EXPECT_NEAR(fleet.total.NotJudged() / 3600, 1, 1e-3);
  ASSERT_EQ(fleet.rows.size(), 2u);
  EXPECT_EQ(fleet.jobs_by_cause[static_cast<std::size_t>(Cause::kPreprocessing)], 2);
}

TEST(SumFleet, AJobCountsWithThePartOfItsTimeThatLiesWithinTheSpan) {
  const FleetJobs jobs = Of({Hours(1, "ann")});
  const Fleet half = SumFleet(jobs, Within(kBeginUs + kHourUs, kBeginUs + kWeekUs));
  EXPECT_NEAR(half.total.held / 3600, 2, 1e-6);
  EXPECT_NEAR(half.total.Lost() / 3600, 0.875, 1e-3);
  const Fleet none = SumFleet(jobs, Within(kBeginUs + 2 * kHourUs, kBeginUs + kWeekUs));
  EXPECT_EQ(none.total.jobs, 0);
  EXPECT_TRUE(none.rows.empty());
}

TEST(SumFleet, RowsThatLostMostComeFirstAndOthersAreCounted) {
  JobHours idle = Hours(3, "cat");
  idle.busy_seconds = 0;
  idle.lost_seconds = {{"raw_data_input", 3.5 * 3600}};
  FleetQuestion question = Within(kBeginUs, kBeginUs + kWeekUs);
  question.rows = 2;
  const Fleet fleet = SumFleet(Of({Hours(1, "ann"), Hours(2, "bob"), idle}), question);
  ASSERT_EQ(fleet.rows.size(), 2u);
  EXPECT_EQ(fleet.rows_total, 3);
  EXPECT_EQ(fleet.rows[0].key, "cat");
  EXPECT_EQ(fleet.jobs[0].name, "cat-3");
  EXPECT_EQ(fleet.rows[0].sums.FirstCause(), Cause::kRawInput);
  question.by = FleetBy::kJob;
  EXPECT_EQ(SumFleet(Of({Hours(1, "ann"), idle}), question).rows[0].job_id, 3);
}

TEST(SumFleet, WhatIsNotKnownIsNotLost) {
  JobHours unjudged = Hours(1, "");
  unjudged.judged_seconds.reset();
  unjudged.busy_seconds = 0;
  unjudged.lost_seconds.clear();
  unjudged.verdict = "unknown";
  JobHours cpu = Hours(2, "ann");
  cpu.gpus = 0;
  cpu.gpu.clear();
  cpu.judged_seconds.reset();
  cpu.lost_seconds.clear();
  cpu.busy_seconds = 0;
  JobHours never = Hours(3, "ann");
  never.from_us.reset();
  const FleetQuestion question = Within(kBeginUs, kBeginUs + kWeekUs);
  const Fleet fleet = SumFleet(Of({unjudged, cpu, never}), question);
  EXPECT_EQ(fleet.total.jobs, 2);
  EXPECT_EQ(fleet.total.without_gpus, 1);
  EXPECT_EQ(fleet.total.judged_jobs, 1);
  EXPECT_EQ(fleet.total.Lost(), 0);
  EXPECT_NEAR(fleet.total.NotJudged() / 3600, 4, 1e-6);
  EXPECT_FALSE(fleet.total.FirstCause());
  const OrderedJson json = ToJson(fleet, question);
  EXPECT_EQ(json["rows"][0]["key"], nullptr);
  EXPECT_EQ(json["total"]["busy_share"], nullptr);
  EXPECT_EQ(json["total"]["cost"], nullptr);
}

TEST(SumFleet, MoneyIsOfTheJobsThatHaveAPrice) {
  JobHours priced = Hours(1, "ann");
  priced.price = 2;
  const FleetQuestion question = Within(kBeginUs, kBeginUs + kWeekUs);
  const OrderedJson json = ToJson(SumFleet(Of({priced, Hours(2, "ann")}), question), question);
  EXPECT_EQ(json["total"]["cost"], 8);
  EXPECT_EQ(json["total"]["lost_cost"], 3.5);
  EXPECT_EQ(json["total"]["priced_share"], 0.5);
}

TEST(SumFleet, FiltersAndScopesLeaveOthersOut) {
  const FleetJobs jobs = Of({Hours(1, "ann"), Hours(2, "bob")});
  FleetQuestion question = Within(kBeginUs, kBeginUs + kWeekUs);
  question.user = "bob";
  EXPECT_EQ(SumFleet(jobs, question).total.jobs, 1);
  question.user = "nobody";
  EXPECT_EQ(SumFleet(jobs, question).total.jobs, 0);
  question.user = "";
  EXPECT_EQ(SumFleet(jobs, question).total.jobs, 0);
  question.user.reset();
  question.scopes = {"ann-*"};
  EXPECT_EQ(SumFleet(jobs, question).total.jobs, 1);
}

TEST(SumFleet, ByNodeAJobsHoursGoToTheGpusOfEachNode) {
  JobHours wide = Hours(1, "ann");
  wide.gpus = 4;
  wide.node_gpus = {{"n1", 3}, {"n2", 1}, {"head", 0}};
  JobHours nowhere = Hours(2, "bob");
  FleetQuestion question = Within(kBeginUs, kBeginUs + kWeekUs, FleetBy::kNode);
  const FleetJobs jobs = Of({wide, nowhere});
  const Fleet fleet = SumFleet(jobs, question);
  ASSERT_EQ(fleet.rows.size(), 3u) << "a node without GPUs holds none";
  EXPECT_EQ(fleet.rows[0].key, "") << "where no node is known";
  EXPECT_EQ(fleet.rows[1].key, "n1");
  EXPECT_NEAR(fleet.rows[1].sums.held / 3600, 6, 1e-6);
  EXPECT_NEAR(fleet.rows[2].sums.held / 3600, 2, 1e-6);
  question.node = "n2";
  const Fleet one = SumFleet(jobs, question);
  EXPECT_NEAR(one.total.held / 3600, 2, 1e-6);
  EXPECT_NEAR(one.total.Lost() / 3600, 1.75 / 4, 1e-3);
  ASSERT_EQ(one.rows.size(), 1u);
  EXPECT_NEAR(one.rows[0].sums.held / 3600, 2, 1e-6);
  question.node = "n9";
  EXPECT_EQ(SumFleet(jobs, question).total.jobs, 0);
}

TEST(SumFleet, ByCauseAJobCountsUnderTheOneThatTookMost) {
  JobHours slow = Hours(1, "ann");
  slow.lost_seconds = {{"preprocessing", 1000}, {"communication", 900}};
  JobHours unjudged = Hours(2, "bob");
  unjudged.judged_seconds.reset();
  FleetQuestion question = Within(kBeginUs, kBeginUs + kWeekUs, FleetBy::kCause);
  const FleetJobs jobs = Of({slow, unjudged});
  const Fleet fleet = SumFleet(jobs, question);
  ASSERT_EQ(fleet.rows.size(), 2u);
  EXPECT_EQ(fleet.rows[0].key, "preprocessing");
  EXPECT_NEAR(fleet.rows[0].sums.Lost(), 1900, 1e-3) << "with all of its hours";
  EXPECT_EQ(fleet.rows[1].key, "");
  question.cause = Cause::kPreprocessing;
  EXPECT_EQ(SumFleet(jobs, question).total.jobs, 1);
  question.cause = Cause::kCommunication;
  EXPECT_EQ(SumFleet(jobs, question).total.jobs, 0);
}

TEST(SumFleet, TheGridSpreadsEachJobOverTheSlotsInWhichItRan) {
  const FleetQuestion question = Within(kBeginUs - 3 * kHourUs, kBeginUs + 21 * kHourUs);
  const Fleet fleet =
      SumFleet(Of({Hours(1, "ann"), Hours(2, "bob", kBeginUs + kHourUs / 2)}), question);
  EXPECT_EQ(fleet.grid.slot_us, kHourUs);
  ASSERT_EQ(fleet.grid.rows.size(), 2u);
  const FleetGridRow& ann = fleet.grid.rows[0];
  EXPECT_EQ(ann.key, "ann");
  ASSERT_EQ(ann.held.size(), 24u);
  EXPECT_EQ(ann.held[2], 0);
  EXPECT_NEAR(ann.held[3] / 3600, 2, 1e-6);
  EXPECT_NEAR(ann.lost[4] / 3600, 0.875, 1e-3);
  EXPECT_EQ(ann.held[5], 0);
  const FleetGridRow& bob = fleet.grid.rows[1];
  EXPECT_NEAR(bob.held[3] / 3600, 1, 1e-6) << "half of the hour";
  EXPECT_NEAR((bob.held[3] + bob.held[4] + bob.held[5]) / 3600, 4, 1e-6);
}

TEST(SumFleet, AnySpanHasAtMost31SlotsAndItsHoursAreAllThere) {
  for (const std::int64_t span_us :
       {std::int64_t{1}, kHourUs / 7, kWeekUs, 12 * kWeekUs, 5'000 * kWeekUs}) {
    const FleetQuestion question = Within(kBeginUs - span_us / 2, kBeginUs + span_us - span_us / 2);
    const Fleet fleet = SumFleet(Of({Hours(1, "ann")}), question);
    ASSERT_EQ(fleet.grid.rows.size(), 1u) << span_us;
    EXPECT_LE(fleet.grid.rows[0].held.size(), 31u) << span_us;
    double held = 0;
    for (const double each : fleet.grid.rows[0].held) held += each;
    EXPECT_NEAR(held, fleet.total.held, 1e-6 + fleet.total.held * 1e-9) << span_us;
  }
}

TEST(SumFleet, TheTrendHasAWeekForEachAndEndsWithTheSpan) {
  const std::int64_t end_us = kBeginUs + kHourUs;
  const Fleet fleet = SumFleet(Of({Hours(1, "ann", kBeginUs - kWeekUs)}), Within(kBeginUs, end_us));
  ASSERT_EQ(fleet.weeks.size(), 12u);
  EXPECT_EQ(fleet.weeks[11].to_us, end_us);
  EXPECT_NEAR(fleet.weeks[11].sums.held / 3600, 2, 1e-6);
  EXPECT_NEAR(fleet.weeks[10].sums.held / 3600, 2, 1e-6);
  EXPECT_EQ(fleet.weeks[9].sums.jobs, 0);
}

TEST(FleetJobs, ARowThatIsWrittenAgainReplacesTheFirst) {
  JobHours again = Hours(1, "ann");
  again.ended = false;
  const FleetJobs jobs = Of({Hours(1, "ann"), again});
  ASSERT_EQ(jobs.jobs.size(), 1u);
  EXPECT_FALSE(jobs.jobs[0].ended);
}

TEST(FleetJobs, ACauseOfANewerServiceIsUnknown) {
  JobHours hours = Hours(1, "ann");
  hours.lost_seconds = {{"cosmic_rays", 60}};
  const FleetJobs jobs = Of({hours});
  EXPECT_EQ(jobs.jobs[0].lost[static_cast<std::size_t>(Cause::kUnknown)], 60);
}

TEST(WeekEnd, IsTheMondayThatIsAnHourOld) {
  constexpr std::int64_t monday_us = 1'795'392'000'000'000;  // 2026-11-23T00:00:00Z
  EXPECT_EQ(WeekEndUs(monday_us + kHourUs), monday_us);
  EXPECT_EQ(WeekEndUs(monday_us + kHourUs - 1), monday_us - kWeekUs);
  EXPECT_EQ(WeekEndUs(monday_us + kWeekUs - 1), monday_us);
}

}  // namespace
}  // namespace stepscope
