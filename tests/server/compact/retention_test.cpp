#include "server/compact/retention.h"

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "server/store/jobs/job_events.h"
#include "server/store/jobs/job_retention.h"
#include "server/store/rollups/rollups.h"
#include "server/store/ticks/job_head.h"
#include "server/store/ticks/ticks.h"
#include "tests/server/compact/compact_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/read_all.h"

namespace stepscope {
namespace {

constexpr std::int64_t kDay = 86'400'000'000;
constexpr std::int64_t kRetentionNow = 1'800'000'000'000'000;

// Adds records of one time: messages that are sent, given up and waiting; a change; an ended
// removal.
constexpr char kRecords[] = R"(
insert into deliveries (webhook_id, event, body, state, due_us, created_us)
select 1, 'e', 'text', state, 1, {0} from unnest(array['delivered', 'dead', 'ready']) as state;
insert into audit (at_us, name, action) values ({0}, 'n', 'a');
insert into removals (job_id, name, reason, asked_us, quiet_us, ended_us)
values ({0}, 'n', 'age', {0}, {0}, {0}))";

class RetentionTest : public CompactTest {
 protected:
  std::int64_t RowsOf(const JobFrames& job) {
    std::int64_t rows = 0;
    for (const char* table :
         {"nodes", "schemas", "frames", "blocks", "rollups", "job_rollups", "step_blocks",
          "annotation_blocks", "span_blocks", "windows", "window_answers", "status_transitions",
          "rule_configs", "rule_states"}) {
      rows += Count(Format("{} where job_id = {}", table, job.job_id()));
    }
    return rows;
  }
  void Fill(JobFrames& job, std::int64_t at_us) {
    job.StoreTicks({"user.a", ""}, {at_us, at_us + 500'000});
    job.StoreSteps(0, {{1, at_us}, {2, at_us + 1'000}});
    job.StoreAnnotations(0, {{"load", at_us, 5}});
    job.StoreSpans(0, at_us);
    Compact(job);
    job.StoreTicks({"user.b", ""}, {at_us + 1'000'000});
  }

  // Adds a message in each state.
  void AddMessages(const JobFrames& job, std::int64_t created_us) {
    ASSERT_TRUE(connection_->Execute(
        Format("insert into deliveries (webhook_id, job_id, event, body, state, due_us, created_us)"
               " select 1, {}, 'e', 'text', state, 1, {}"
               " from unnest(array['delivered', 'dead', 'ready', 'running']) as state",
               job.job_id(), created_us)));
  }
  std::int64_t Messages(const JobFrames& job) {
    return Count(Format("deliveries where job_id = {}", job.job_id()));
  }

  test::FakeClock clock_{FromMicros(kRetentionNow)};
  const RetentionOptions quick_{.check_every = 5ms, .pause = 0ms, .search = 0ms, .rows_at_once = 1};
};

TEST_F(RetentionTest, DeletedJobLosesItsNameAtOnceAndItsRowsPieceByPiece) {
  JobFrames gone(*connection_, "gone"), stays(*connection_, "stays");
  Fill(gone, kRetentionNow - kDay);
  Fill(stays, kRetentionNow - kDay);
  const std::int64_t before = RowsOf(stays);
  ASSERT_TRUE(DeleteJob(*connection_, "gone", "deleted", kRetentionNow));
  EXPECT_EQ(FindJob(*connection_, "gone").error().code, Code::kNotFound);
  EXPECT_EQ(DeleteJob(*connection_, "gone", "deleted", kRetentionNow).error().code,
            Code::kNotFound);
  Retention retention(store_, clock_, quick_);
  EXPECT_TRUE(Eventually([&] { return RowsOf(gone) == 0; }));
  EXPECT_EQ(RowsOf(stays), before);
  EXPECT_TRUE(Eventually([&] { return retention.figures().bytes > 0; }));
}

// A push that had found the job before it was deleted may write once more.
TEST_F(RetentionTest, WhatComesAfterwardsIsRemovedTooUntilItIsQuiet) {
  JobFrames gone(*connection_, "gone");
  Fill(gone, kRetentionNow - kDay);
  ASSERT_TRUE(DeleteJob(*connection_, "gone", "deleted", kRetentionNow));
  Retention retention(store_, clock_, quick_);
  EXPECT_TRUE(Eventually([&] { return RowsOf(gone) == 0; }));
  gone.StoreTicks({"user.a", ""}, {kRetentionNow});
  EXPECT_TRUE(Eventually([&] { return RowsOf(gone) == 0; }));
  EXPECT_TRUE(Eventually([&] { return Count("removals where quiet_us is not null") == 1; }));
  EXPECT_EQ(Count("removals where ended_us is null"), 1);
  clock_.Advance(61s);
  EXPECT_TRUE(Eventually([&] { return Count("removals where ended_us is null") == 0; }));
}

TEST_F(RetentionTest, OldSamplesGoWhileRollupsAndTimesStay) {
  JobFrames job(*connection_);
  Fill(job, kRetentionNow - 40 * kDay);
  Fill(job, kRetentionNow - kDay);
  ASSERT_TRUE(CompactNode(*connection_, job.job_id(), job.node_id()));
  for (const std::int64_t at_us : {kRetentionNow - 40 * kDay, kRetentionNow - kDay}) {
    ASSERT_TRUE(AddEvent(*connection_, job.job_id(), {at_us, "frames_lost", "n1"}));
  }
  const std::int64_t rollups = Count("rollups");
  Retention retention(store_, clock_, quick_);
  const auto all_gone = [&] { return Count("span_blocks") == 1 && Count("events") == 1; };
  EXPECT_TRUE(Eventually(all_gone)) << "the last that go";
  EXPECT_EQ(Count("jobs where samples_from_us is not null"), 1);
  EXPECT_EQ(Ask("sum(at_us) from events"), kRetentionNow - kDay);
  EXPECT_EQ(Count("rollups"), rollups);
  EXPECT_EQ(Count("step_blocks"), 1);
  EXPECT_EQ(Count("annotation_blocks"), 1);
  EXPECT_EQ(Count("windows"), 2) << "that somebody asked stays";
  const auto ranges = ReadTickRanges(*connection_, job.job_id());
  ASSERT_TRUE(ranges && ranges->size() == 1);
  EXPECT_EQ(ranges->front().from_us, kRetentionNow - 40 * kDay);
  const auto ticks = ReadTicks(*connection_, {.job_id = job.job_id(),
                                              .node_id = job.node_id(),
                                              .until_us = kRetentionNow - 30 * kDay,
                                              .filter = {{"user.a"}, {}}});
  ASSERT_TRUE(ticks);
  EXPECT_TRUE(ticks->series.empty());
}

// Samples of a removed range come with POST, or from an agent that was away: the window has rollups
// alone.
TEST_F(RetentionTest, LateSamplesAreAddedToTheRollupsOfWhatWasRemoved) {
  JobFrames job(*connection_);
  const std::int64_t begin = kRetentionNow - 40 * kDay;
  std::vector<std::int64_t> times;
  for (int i = 0; i < 1'000; ++i) times.push_back(begin + i * 500'000);
  job.StoreTicks({times, {{"user.a", ""}}, {{0, std::vector<std::int64_t>(1'000, 7), {}}}});
  Compact(job);
  while (RemoveSamplesBefore(*connection_, job.job_id(), kRetentionNow - 30 * kDay, 100)->rows >
         0) {
  }
  // The sums over all bins of a level: number, least, greatest and sum.
  const auto totals = [&](const RollupLevel& level) {
    std::vector<std::int64_t> all{0, INT64_MAX, INT64_MIN, 0};
    const auto rollups =
        LoadRollups(*connection_,
                    {.job_id = job.job_id(), .node_ids = {}, .bin_us = level.bin_us, .filter = {}});
    for (const NodeRollup& rollup : *rollups) {
      const RollupDevice device = DevicesOf(rollup.bins).at(0);
      for (std::size_t row = 0; row < rollup.bins.at_us.size(); ++row) {
        all[0] += device.count->values[row];
        all[1] = std::min(all[1], device.least->values[row]);
        all[2] = std::max(all[2], device.greatest->values[row]);
        all[3] += device.sum->values[row];
      }
    }
    return all;
  };
  const auto expect = [&](const std::vector<std::int64_t>& wanted) {
    Compact(job);
    for (const RollupLevel& level : kRollupLevels) EXPECT_EQ(totals(level), wanted) << level.bin_us;
  };
  expect({1'000, 7, 7, 7'000});
  const auto late = [&](std::int64_t at_us, std::int64_t value) {
    job.StoreTicks({{at_us}, {{"user.a", ""}}, {{0, {value}, {}}}});
  };
  late(begin + 1, 100);
  expect({1'001, 7, 100, 7'100});
  late(begin + 1, 100);  // which is stored by now
  late(begin + 2, 1);
  expect({1'002, 1, 100, 7'101});
}

// Charts of a partly removed range are drawn from rollups, also when the rest is never removed: the
// service was killed, and its limit is higher now.
TEST_F(RetentionTest, TheFirstPieceSaysFromWhenOnThereAreSamples) {
  JobFrames job(*connection_), fresh(*connection_, "fresh");
  for (const int days : {40, 41}) Fill(job, kRetentionNow - days * kDay);
  Fill(fresh, kRetentionNow - kDay);
  const std::int64_t before_us = kRetentionNow - 30 * kDay, blocks = Count("blocks");
  ASSERT_TRUE(RemoveSamplesBefore(*connection_, job.job_id(), before_us, 1));
  EXPECT_EQ(Count("blocks"), blocks - 1);
  EXPECT_EQ(Ask("samples_from_us from jobs where name = 'train'"), before_us);
  ASSERT_TRUE(RemoveSamplesBefore(*connection_, job.job_id(), before_us - 1, 1));
  EXPECT_EQ(Ask("samples_from_us from jobs where name = 'train'"), before_us);
  ASSERT_TRUE(RemoveSamplesBefore(*connection_, fresh.job_id(), before_us, 1));
  EXPECT_EQ(Count("jobs where name = 'fresh' and samples_from_us is null"), 1);
}

// The older job comes first: it was looked at when the other is done.
TEST_F(RetentionTest, AJobMayKeepItsSamplesShorterOrLonger) {
  JobFrames longer(*connection_, "longer"), shorter(*connection_, "shorter");
  Fill(longer, kRetentionNow - 40 * kDay);
  Fill(shorter, kRetentionNow - 5 * kDay);
  ASSERT_TRUE(KeepSamples(*connection_, longer.job_id(), 60));
  ASSERT_TRUE(KeepSamples(*connection_, shorter.job_id(), 2));
  ASSERT_TRUE(connection_->Execute("update jobs set created_us = 2 where name = 'shorter'"));
  const auto blocks = [&](const JobFrames& job) {
    return Count(Format("step_blocks where job_id = {}", job.job_id()));
  };
  ASSERT_EQ(blocks(shorter), 1);
  Retention retention(store_, clock_, quick_);
  const auto from = [&](int days) {
    return Count(Format("jobs where samples_from_us = {}", kRetentionNow - days * kDay));
  };
  EXPECT_TRUE(Eventually([&] { return blocks(shorter) == 0; }));
  EXPECT_EQ(from(2), 1);
  EXPECT_EQ(blocks(longer), 1);
  EXPECT_EQ(from(60), 1);
}

// The time of one job is taken back when the first of its rows is gone, and none follows.
TEST_F(RetentionTest, MoreTimeIsObeyedWhileSamplesGo) {
  JobFrames job(*connection_), next(*connection_, "next");
  ASSERT_TRUE(connection_->Execute("update jobs set created_us = 2 where name = 'next'"));
  for (int day = 0; day < 20; ++day) Fill(job, kRetentionNow - (40 + day) * kDay);
  next.StoreSteps(0, {{1, kRetentionNow - 40 * kDay}});
  Compact(next);
  RetentionOptions slow = quick_;
  slow.rows_at_once = 1;
  slow.pause = 200ms;
  const auto left = [&](const JobFrames& of) {
    return Count(Format("step_blocks where job_id = {}", of.job_id()));
  };
  Retention retention(store_, clock_, slow);
  ASSERT_TRUE(Eventually([&] { return retention.figures().rows > 0; }));
  ASSERT_TRUE(KeepSamples(*connection_, job.job_id(), 0));
  EXPECT_TRUE(Eventually([&] { return left(next) == 0; })) << "whose turn is afterwards";
  EXPECT_GT(left(job), 0);
}

TEST_F(RetentionTest, JobsThatEndedLongAgoGo) {
  JobFrames old(*connection_, "old"), fresh(*connection_, "fresh"), runs(*connection_, "runs");
  ASSERT_TRUE(connection_->Execute(
      Format("update jobs set ended_us = {} where name = 'old'; update jobs set ended_us = {} "
             "where name = 'fresh'",
             kRetentionNow - 401 * kDay, kRetentionNow - 399 * kDay)));
  Retention retention(store_, clock_, quick_);
  EXPECT_TRUE(Eventually([&] { return Count("jobs") == 2 && RowsOf(old) == 0; }));
  EXPECT_EQ(Count("jobs where name = 'old'"), 0);
  EXPECT_EQ(retention.figures().jobs, 1u);
}

TEST_F(RetentionTest, MoreOldJobsThanOneListHoldsGoInOneSearch) {
  ASSERT_TRUE(
      connection_->Execute("insert into jobs (name, created_us, ended_us) "
                           "select 'old-' || n, 1, n from generate_series(1, 250) as n"));
  RetentionOptions once = quick_;
  once.search = std::chrono::hours(1);
  Retention retention(store_, clock_, once);
  EXPECT_TRUE(Eventually([&] { return Count("jobs") == 0; })) << Count("jobs") << " are left";
  EXPECT_TRUE(Eventually([&] { return retention.figures().jobs == 250; }));
}

TEST_F(RetentionTest, MessagesOfARemovedJobGoOnceTheyEnded) {
  JobFrames gone(*connection_, "gone"), stays(*connection_, "stays");
  for (const JobFrames* job : {&gone, &stays}) AddMessages(*job, kRetentionNow);
  ASSERT_TRUE(DeleteJob(*connection_, "gone", "deleted", kRetentionNow));
  Retention retention(store_, clock_, quick_);
  EXPECT_TRUE(Eventually([&] { return Messages(gone) == 2; }));
  EXPECT_EQ(Count("deliveries where state in ('ready', 'running')"), 4) << "they are sent first";
  ASSERT_TRUE(connection_->Execute("update deliveries set state = 'delivered'"));
  EXPECT_TRUE(Eventually([&] { return Messages(gone) == 0; }));
  EXPECT_EQ(Messages(stays), 4);
}

TEST_F(RetentionTest, RecordsGoAtTheAgeOfJobs) {
  for (const std::int64_t at_us : {kRetentionNow - 401 * kDay, kRetentionNow - 399 * kDay}) {
    ASSERT_TRUE(connection_->Execute(Format(kRecords, at_us)));
  }
  Retention retention(store_, clock_, quick_);
  EXPECT_TRUE(Eventually([&] { return retention.figures().rows == 4; }));
  EXPECT_EQ(Count("deliveries"), 4) << "one that waits stays";
  EXPECT_EQ(Count("audit"), 1);
  EXPECT_EQ(Count("removals where ended_us is not null"), 1);
  const std::string old = std::to_string(kRetentionNow - 400 * kDay);
  EXPECT_EQ(Count("audit where at_us < " + old), 0);
  EXPECT_EQ(Count("deliveries where state <> 'ready' and created_us < " + old), 0);
  EXPECT_EQ(retention.figures().bytes, 8u);
}

// A message that ends after the removal goes, whatever its age; also where jobs are kept for ever.
TEST_F(RetentionTest, MessagesThatEndAfterTheRemovalOfTheirJobGo) {
  for (const Duration keep_jobs : {Duration::zero(), quick_.keep_jobs}) {
    JobFrames gone(*connection_, "gone"), stays(*connection_, "stays");
    AddMessages(gone, kRetentionNow);
    AddMessages(stays, kRetentionNow - 900 * kDay);
    ASSERT_TRUE(DeleteJob(*connection_, "gone", "deleted", kRetentionNow));
    RetentionOptions options = quick_;
    options.keep_jobs = keep_jobs;
    Retention retention(store_, clock_, options);
    EXPECT_TRUE(Eventually([&] { return Count("removals where quiet_us is not null") > 0; }));
    clock_.Advance(61s);
    EXPECT_TRUE(Eventually([&] { return Count("removals where ended_us is null") == 0; }));
    EXPECT_EQ(Messages(gone), 2) << "they wait";
    ASSERT_TRUE(connection_->Execute("update deliveries set state = 'dead'"));
    EXPECT_TRUE(Eventually([&] { return Messages(gone) == 0; }));
    EXPECT_EQ(Messages(stays), 4) << "the job is listed still";
    ASSERT_TRUE(
        connection_->Execute("delete from jobs; delete from deliveries; "
                             "delete from removals"));
  }
}

// A table of changes that only grows, as some demand it.
TEST_F(RetentionTest, ChangesThatMayNotBeRemovedKeepNothingElse) {
  ASSERT_TRUE(connection_->Execute(Format(kRecords, kRetentionNow - 401 * kDay)));
  ASSERT_TRUE(connection_->Execute(
      "create function refuse() returns trigger language plpgsql as $$ begin "
      "raise exception 'no right'; end $$; "
      "create trigger refused before delete on audit for each row execute function refuse()"));
  JobFrames job(*connection_);
  Fill(job, kRetentionNow - 40 * kDay);
  Retention retention(store_, clock_, quick_);
  EXPECT_TRUE(Eventually([&] { return Count("step_blocks") == 0; }));
  EXPECT_TRUE(Eventually([&] { return Count("removals") == 0; })) << "which come after them";
  EXPECT_EQ(Count("deliveries"), 1);
  EXPECT_EQ(Count("audit"), 1);
}

TEST_F(RetentionTest, SaysUpToWhenChangesWereRemoved) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(connection_->Execute(Format(kRecords, kRetentionNow - 401 * kDay + i)));
  }
  RetentionOptions once = quick_;
  once.search = std::chrono::hours(1);
  testing::internal::CaptureStdout();
  {
    Retention retention(store_, clock_, once);
    EXPECT_TRUE(Eventually([&] { return Count("removals") == 0; }));
  }
  const std::string said = testing::internal::GetCapturedStdout();
  const std::string line = Format("who changed what before {}: removed",
                                  ToRfc3339(FromMicros(kRetentionNow - 400 * kDay)));
  EXPECT_NE(said.find(line), std::string::npos) << said;
  EXPECT_EQ(said.find(line), said.rfind(line)) << "once for three pieces";
}

TEST_F(RetentionTest, ZeroKeepsForEver) {
  JobFrames old(*connection_, "old");
  Fill(old, kRetentionNow - 900 * kDay);
  ASSERT_TRUE(connection_->Execute("update jobs set ended_us = 1"));
  ASSERT_TRUE(connection_->Execute(Format(kRecords, 1)));
  RetentionOptions for_ever = quick_;
  for_ever.keep_samples = for_ever.keep_jobs = Duration::zero();
  const std::int64_t before = RowsOf(old);
  JobFrames gone(*connection_, "gone");
  ASSERT_TRUE(DeleteJob(*connection_, "gone", "deleted", kRetentionNow));
  Retention retention(store_, clock_, for_ever);
  EXPECT_TRUE(Eventually([&] { return Count("removals where quiet_us is not null") == 1; }));
  EXPECT_EQ(RowsOf(old), before);
  EXPECT_EQ(Count("deliveries") + Count("audit") + Count("removals where ended_us = 1"), 5);
}

}  // namespace
}  // namespace stepscope
