#include <gtest/gtest.h>

#include <random>

#include "core/base/text.h"
#include "server/compact/retention.h"
#include "server/store/ticks/ticks.h"
#include "tests/server/compact/compact_fixture.h"
#include "tests/support/fake_clock.h"

namespace stepscope {
namespace {

constexpr std::int64_t kNow = 1'800'000'000'000'000;
constexpr std::int64_t kKeepSizeSecond = 1'000'000, kWindow = 600 * kKeepSizeSecond,
                       kKeepSizeDay = 86'400 * kKeepSizeSecond;

class KeepSizeTest : public CompactTest {
 protected:
  std::int64_t WindowsOf(const JobFrames& job) {
    return Count(Format("blocks where metric <> '' and job_id = {}", job.job_id()));
  }
  // Stores a value a second that does not compress, and a step, in each of some block windows.
  void Fill(JobFrames& job, std::int64_t from_us, int windows) {
    for (int window = 0; window < windows; ++window) {
      TickTable ticks{std::vector<std::int64_t>(600), {{"user.a", ""}}, {{0, {}, {}}}};
      for (std::int64_t& at_us : ticks.at_us) {
        at_us = from_us + window * kWindow + (&at_us - ticks.at_us.data()) * kKeepSizeSecond;
        ticks.columns[0].values.push_back(static_cast<std::int64_t>(random_() >> 1));
      }
      job.StoreTicks(ticks);
    }
    job.StoreSteps(0, {{1, from_us}, {2, from_us + 1'000}});
    job.StoreAnnotations(0, {{"load", from_us, 5}});
    Compact(job);
  }
  void End(const JobFrames& job, std::int64_t at_us) {
    ASSERT_TRUE(connection_->Execute(
        Format("update jobs set ended_us = {} where job_id = {}", at_us, job.job_id())));
  }
  std::int64_t Stored() { return MeasureStored(*connection_)->live; }
  RetentionOptions Below(std::int64_t bytes) const {
    RetentionOptions options{.check_every = 5ms, .pause = 0ms, .rows_at_once = 3};
    options.keep_samples = Duration::zero();
    options.keep_bytes = bytes;
    options.measure = 0ms;
    return options;
  }

  test::FakeClock clock_{FromMicros(kNow)};
  std::mt19937_64 random_{7};
};

TEST_F(KeepSizeTest, TheOldestSamplesOfAllJobsGoAndRollupsStay) {
  JobFrames ended(*connection_, "ended"), runs(*connection_, "runs");
  Fill(ended, kNow - kKeepSizeDay, 40);
  Fill(runs, kNow - kKeepSizeDay, 60);
  End(ended, kNow - kKeepSizeDay / 2);
  const std::int64_t rollups = Count("rollups"), limit = Stored() * 8 / 10;
  Retention retention(store_, clock_, Below(limit));
  EXPECT_TRUE(Eventually([&] {
    const std::int64_t stored = retention.figures().stored_bytes;
    return stored > 0 && stored <= limit;
  }));
  EXPECT_NEAR(double(Stored()), double(limit) * 0.9, double(limit) * 0.03);
  EXPECT_EQ(WindowsOf(runs) - WindowsOf(ended), 20);
  EXPECT_EQ(Count("rollups"), rollups);
  EXPECT_EQ(Count("step_blocks") + Count("annotation_blocks"), 0);
  const std::int64_t oldest = Ask("min(window_us) from blocks where metric <> ''");
  EXPECT_EQ(Count(Format("jobs where samples_from_us = {}", oldest)), 2);
  EXPECT_GT(retention.figures().file_bytes, 0);
}

TEST_F(KeepSizeTest, BelowTheLimitNothingGoes) {
  JobFrames job(*connection_);
  Fill(job, kNow - kKeepSizeDay, 10);
  Retention retention(store_, clock_, Below(Stored()));
  EXPECT_TRUE(Eventually([&] { return retention.figures().stored_bytes > 0; }));
  EXPECT_EQ(WindowsOf(job), 10);
  EXPECT_EQ(Count("jobs where samples_from_us is null"), 1);
}

TEST_F(KeepSizeTest, JobsThatEndedGoWhenSamplesAreNotEnough) {
  JobFrames first(*connection_, "first"), second(*connection_, "second"),
      runs(*connection_, "runs");
  for (JobFrames* job : {&second, &first, &runs}) Fill(*job, kNow - kKeepSizeDay, 30);
  End(first, kNow - kKeepSizeDay / 2);
  End(second, kNow - kKeepSizeDay / 3);
  const std::int64_t others = Count("rollups where job_id <> " + std::to_string(first.job_id()));
  ASSERT_TRUE(connection_->Execute("create table kept as table blocks; delete from blocks"));
  const std::int64_t limit = Stored() * 9 / 10;  // rollups and the few steps alone
  ASSERT_TRUE(connection_->Execute("insert into blocks table kept"));
  Retention retention(store_, clock_, Below(limit));
  EXPECT_TRUE(Eventually([&] { return Count("removals where quiet_us > 0") == 1; }));
  EXPECT_EQ(Count("removals where name = 'first' and reason = 'size'"), 1);
  EXPECT_EQ(Count("jobs"), 2);
  EXPECT_EQ(Count("rollups"), others);
  EXPECT_EQ(retention.figures().jobs, 1u);
}

TEST_F(KeepSizeTest, ALimitBelowOneBlockLeavesTheLastHourOfAJobThatRuns) {
  JobFrames ended(*connection_, "ended"), fresh(*connection_, "fresh"), runs(*connection_, "runs");
  for (JobFrames* job : {&ended, &fresh, &runs}) Fill(*job, kNow - 12 * kWindow, 12);
  End(ended, kNow - 7 * kWindow);
  End(fresh, kNow);
  Retention retention(store_, clock_, Below(1));
  EXPECT_TRUE(Eventually([&] { return Count("removals where quiet_us > 0") == 1; }));
  EXPECT_TRUE(Eventually([&] { return WindowsOf(runs) == 6; }));
  EXPECT_EQ(WindowsOf(fresh), 6);
  EXPECT_EQ(WindowsOf(ended), 0);
  EXPECT_EQ(Count("jobs"), 2);
}

// Rows of a deleted job must not make samples of other jobs go.
TEST_F(KeepSizeTest, WhatIsOnItsWayOutDoesNotCount) {
  JobFrames stays(*connection_, "stays"), gone(*connection_, "gone");
  Fill(stays, kNow - kKeepSizeDay, 20);
  const std::int64_t limit = Stored() + 1'000;
  Fill(gone, kNow - kKeepSizeDay, 40);
  ASSERT_TRUE(DeleteJob(*connection_, "gone", "deleted", kNow));
  Retention retention(store_, clock_, Below(limit));
  EXPECT_TRUE(Eventually([&] { return retention.figures().stored_bytes > 0; }));
  EXPECT_EQ(WindowsOf(gone), 0);
  EXPECT_EQ(WindowsOf(stays), 20);
}

TEST_F(KeepSizeTest, ReplicasDoNotRemoveMoreThanOneWould) {
  JobFrames job(*connection_);
  Fill(job, kNow - kKeepSizeDay, 100);
  const std::int64_t limit = Stored() * 8 / 10;
  {
    const Retention one(store_, clock_, Below(limit)), two(store_, clock_, Below(limit)),
        three(store_, clock_, Below(limit));
    EXPECT_TRUE(Eventually([&] {
      return one.figures().stored_bytes > 0 && two.figures().stored_bytes > 0 &&
             three.figures().stored_bytes > 0 && Stored() <= limit;
    }));
  }
  EXPECT_NEAR(double(Stored()), double(limit) * 0.9, double(limit) * 0.03);
}

// The compactor writes the block that grows again and again while older ones are removed.
TEST_F(KeepSizeTest, IngestAndCompactionGoOn) {
  JobFrames job(*connection_);
  Fill(job, kNow - kKeepSizeDay, 40);
  Retention retention(store_, clock_, Below(Stored() / 2));
  std::vector<std::int64_t> pushed;
  for (int second = 0; second < 120; ++second) {
    pushed.push_back(kNow + second * kKeepSizeSecond);
    job.StoreTicks({"user.a", ""}, {pushed.back()});
    if (second % 10 == 0) {
      ASSERT_TRUE(CompactNode(*connection_, job.job_id(), job.node_id()));
    }
  }
  EXPECT_TRUE(Eventually([&] { return retention.figures().rows > 10; }));
  const auto ticks = ReadTicks(*connection_, {.job_id = job.job_id(),
                                              .node_id = job.node_id(),
                                              .after_us = kNow - 1,
                                              .filter = {{"user.a"}, {}}});
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->columns.at(0).values, pushed);
}

}  // namespace
}  // namespace stepscope
