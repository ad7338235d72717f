#include "server/compact/compactor.h"

#include <gtest/gtest.h>

#include <atomic>

#include "server/store/ticks/ticks.h"
#include "tests/server/compact/compact_fixture.h"

namespace stepscope {
namespace {

constexpr std::int64_t kCompactorBegin = 1'795'205'400'000'000;

class CompactorTest : public CompactTest {
 protected:
  SystemClock clock_;
};

const CompactorOptions kQuick{
    .every = 20ms, .check_every = 5ms, .find = 5ms, .lease = 5s, .name = "", .paused = {}};

TEST_F(CompactorTest, CompactsEveryJobAndGoesOnWithWhatComes) {
  JobFrames one(*connection_, "one"), two(*connection_, "two");
  one.StoreTicks({"user.a", ""}, {kCompactorBegin, kCompactorBegin + 500'000});
  two.StoreTicks({"user.a", ""}, {kCompactorBegin});
  Compactor compactor(store_, clock_, kQuick);
  EXPECT_TRUE(Eventually([&] { return Count("frames") == 0; }));
  two.StoreTicks({"user.a", ""}, {kCompactorBegin + 500'000});
  EXPECT_TRUE(Eventually([&] { return Count("frames") == 0; }));
  EXPECT_EQ(Count("blocks where metric = 'user.a'"), 2);
  EXPECT_TRUE(Eventually([&] { return compactor.figures().frames == 3; }));
}

TEST_F(CompactorTest, WaitsWhileItIsPaused) {
  JobFrames job(*connection_);
  job.StoreTicks({"user.a", ""}, {kCompactorBegin});
  std::atomic<bool> full = true;
  std::atomic<int> asked = 0;
  CompactorOptions options = kQuick;
  options.paused = [&] {
    ++asked;
    return full.load();
  };
  Compactor compactor(store_, clock_, options);
  EXPECT_TRUE(Eventually([&] { return asked > 3; }));
  EXPECT_EQ(Count("frames"), 1);
  full = false;
  EXPECT_TRUE(Eventually([&] { return Count("frames") == 0; }));
}

// The backlog is known while nobody may work on it, and is empty once it is done.
TEST_F(CompactorTest, SaysWhatWaitsAndForHowLong) {
  JobFrames one(*connection_, "one"), two(*connection_, "two");
  one.StoreTicks({"user.a", ""}, {kCompactorBegin});
  one.StoreTicks({"user.a", ""}, {kCompactorBegin + 1});
  two.StoreTicks({"user.a", ""}, {kCompactorBegin});
  std::atomic<bool> full = true;
  CompactorOptions options = kQuick;
  options.paused = [&] { return full.load(); };
  Compactor compactor(store_, clock_, options);
  const auto backlog = [&] { return compactor.figures().backlog; };
  EXPECT_TRUE(Eventually([&] { return backlog().frames == 3; }));
  EXPECT_LT(backlog().overdue, 60s) << "due since they were found";
  ASSERT_TRUE(connection_->Execute("update compact_tasks set due_us = due_us - 3600000000"));
  EXPECT_TRUE(Eventually([&] { return backlog().overdue >= 1h; }));
  full = false;
  EXPECT_TRUE(Eventually([&] { return backlog().frames == 0 && backlog().overdue < 60s; }));
}

TEST_F(CompactorTest, CountsTicksThatTheNodeHadAlready) {
  JobFrames job(*connection_);
  job.StoreTicks({"user.a", ""}, {kCompactorBegin, kCompactorBegin + 1});
  job.StoreTicks({"user.a", ""}, {kCompactorBegin + 1,
                                  kCompactorBegin + 2});  // one of these ticks again, in a frame
  Compactor compactor(store_, clock_, kQuick);
  EXPECT_TRUE(Eventually([&] { return compactor.figures().frames == 2; }));
  EXPECT_EQ(compactor.figures().rows_joined, 1u);
  job.StoreTicks({"user.a", ""},
                 {kCompactorBegin, kCompactorBegin + 3});  // and a tick that is in a block
  EXPECT_TRUE(Eventually([&] { return compactor.figures().frames == 3; }));
  EXPECT_EQ(compactor.figures().rows_joined, 2u);
}

TEST_F(CompactorTest, JobWithNothingLeftHasNoTask) {
  JobFrames job(*connection_);
  job.StoreTicks({"user.a", ""}, {kCompactorBegin});
  Compactor compactor(store_, clock_, kQuick);
  EXPECT_TRUE(Eventually([&] { return Count("frames") + Count("compact_tasks") == 0; }));
}

// A frame that cannot be read stays; the other nodes' go on.
TEST_F(CompactorTest, NodeThatFailsIsCountedAndStopsNobody) {
  JobFrames job(*connection_);
  job.StoreTicks({"user.a", ""}, {kCompactorBegin});
  ASSERT_TRUE(connection_->Execute("update frames set payload = 'broken'"));
  const std::int64_t other = job.AddNode("n2");
  job.StoreTicks({{kCompactorBegin}, {{"user.a", ""}}, {{0, {1}, {}}}}, other);
  Compactor compactor(store_, clock_, kQuick);
  EXPECT_TRUE(Eventually([&] { return Count("frames") == 1; }));
  EXPECT_TRUE(Eventually([&] { return compactor.figures().failures > 0; }));
}

// A library may throw anything: in the midst of a job, which goes back to the queue, or elsewhere.
TEST_F(CompactorTest, WantOfMemoryIsCountedAndTriedAgain) {
  JobFrames job(*connection_);
  job.StoreTicks({"user.a", ""}, {kCompactorBegin});
  std::atomic<int> asked = 0;
  CompactorOptions options = kQuick;
  options.lease = 1h;  // so nobody takes the job that was not put back
  options.paused = [&] {
    const int time = ++asked;  // the second is in the midst of the job
    if (time == 2 || time == 4) throw std::bad_alloc();
    return false;
  };
  Compactor compactor(store_, clock_, options);
  EXPECT_TRUE(Eventually([&] { return Count("frames") == 0; }));
  EXPECT_TRUE(Eventually([&] { return asked > 4; }));
  EXPECT_EQ(compactor.figures().failures, 2u);
}

// The log is the only place that says why frames only become more.
TEST_F(CompactorTest, LooksThatFailAreCounted) {
  ASSERT_TRUE(connection_->Execute("alter table compact_tasks rename to away"));
  JobFrames job(*connection_);
  job.StoreTicks({"user.a", ""}, {kCompactorBegin});
  CompactorOptions options = kQuick;
  options.paused = [] { return true; };
  Compactor compactor(store_, clock_, options);
  EXPECT_TRUE(Eventually([&] { return compactor.figures().failures > 1; }));
  ASSERT_TRUE(connection_->Execute("alter table away rename to compact_tasks"));
  EXPECT_TRUE(Eventually([&] { return compactor.figures().backlog.frames == 1; }));
}

TEST_F(CompactorTest, SeveralShareTheWork) {
  std::vector<std::unique_ptr<JobFrames>> jobs;
  for (int i = 0; i < 12; ++i) {
    jobs.push_back(std::make_unique<JobFrames>(*connection_, "job-" + std::to_string(i)));
    jobs.back()->StoreTicks({"user.a", ""}, {kCompactorBegin, kCompactorBegin + 1});
  }
  Compactor one(store_, clock_, kQuick), two(store_, clock_, kQuick);
  EXPECT_TRUE(Eventually([&] { return Count("frames") == 0; }));
  EXPECT_TRUE(Eventually([&] { return one.figures().frames + two.figures().frames == 12; }));
  EXPECT_EQ(one.figures().failures + two.figures().failures, 0u);
}

// PostgreSQL's sessions end again and again, in the middle of whatever they do.
TEST_F(CompactorTest, SessionsThatEndLoseAndDoubleNothing) {
  constexpr std::int64_t kFrames = 200;
  std::vector<std::int64_t> expected;
  std::int64_t job_id = 0, node_id = 0;
  {
    JobFrames job(*connection_);
    job_id = job.job_id();
    node_id = job.node_id();
    for (std::int64_t i = 0; i < kFrames; ++i) {
      expected.push_back(kCompactorBegin + i * 10'000'000);
      job.StoreTicks({"user.a", ""}, {expected.back()});
    }
  }
  const auto read = [&](Connection& connection) {
    return ReadTicks(connection, {.job_id = job_id, .node_id = node_id, .filter = {}});
  };
  Compactor one(store_, clock_, kQuick), two(store_, clock_, kQuick);
  for (int turn = 0; turn < 25; ++turn) {
    database_.EndSessions();
    const auto own = database_.Connect();
    const auto ticks = read(*own);
    ASSERT_TRUE(ticks) << ticks.error().message;
    ASSERT_EQ(ticks->at_us, expected) << turn;
  }
  connection_ = database_.Connect();
  EXPECT_TRUE(Eventually([&] { return Count("frames") == 0; }));
  EXPECT_EQ(read(*connection_)->at_us, expected);
}

}  // namespace
}  // namespace stepscope
