#include "server/compact/compact_steps.h"

#include <gtest/gtest.h>

#include <thread>

#include "server/store/retention/compact_tasks.h"
#include "server/store/steps/step_blocks.h"
#include "server/store/steps/steps.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

constexpr std::int64_t kStepsBegin = 1'795'205'400'000'000;

using Numbered = std::vector<std::pair<std::int64_t, std::int64_t>>;  // number, start_us

class CompactStepsTest : public ::testing::Test {
 protected:
  CompactStepsTest() : connection_(database_.Connect()), frames_(*connection_) {}

  // Steps of 1 ms, from a number on.
  Numbered Steps(std::int64_t first, std::int64_t count) {
    Numbered steps;
    for (std::int64_t i = first; i < first + count; ++i)
      steps.push_back({i, kStepsBegin + i * 1'000});
    return steps;
  }
  Compacted Compact() {
    const Result<Compacted> done = CompactSteps(*connection_, frames_.job_id(), {0});
    EXPECT_TRUE(done) << done.error().message;
    return done ? *done : Compacted{};
  }
  Numbered Read(std::size_t most = 1'000'000) {
    Numbered read;
    StepQuery query{.job_id = frames_.job_id(), .rank = 0, .most_rows = most};
    for (;;) {
      const auto steps = ReadSteps(*connection_, query);
      EXPECT_TRUE(steps) << steps.error().message;
      if (!steps || steps->empty()) return read;
      for (const Step& step : *steps) {
        EXPECT_EQ(step.wall, 100ns);
        EXPECT_EQ(step.phase(Phase::kData), 40ns);
        read.push_back({step.number, ToMicros(step.start)});
      }
      query.after_us = ToMicros(steps->back().start);
    }
  }
  std::int64_t Count(const std::string& table) {
    return connection_->Query("select count(*) from " + table)->Int(0, 0);
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_;
  JobFrames frames_;
};

TEST_F(CompactStepsTest, ReadersSeeTheSameBeforeAndAfter) {
  for (std::int64_t first = 0; first < 10'000; first += 500)
    frames_.StoreSteps(0, Steps(first, 500));
  frames_.StoreSteps(1, Steps(0, 3));
  EXPECT_EQ(Compact().frames, 20u);
  EXPECT_EQ(Count("frames"), 1) << "of the other rank";
  EXPECT_EQ(Count("step_blocks"), 3);
  EXPECT_EQ(Read(), Steps(0, 10'000));
  EXPECT_EQ(Read(700), Steps(0, 10'000));
}

TEST_F(CompactStepsTest, BlockThatIsNotFullIsFilled) {
  for (std::int64_t first = 0; first < 10'000; first += 1'000) {
    frames_.StoreSteps(0, Steps(first, 1'000));
    Compact();
  }
  EXPECT_EQ(Count("step_blocks"), 3);
  EXPECT_EQ(Read(), Steps(0, 10'000));
}

TEST_F(CompactStepsTest, LateAndRepeatedStepsComeOnceInTheirPlace) {
  frames_.StoreSteps(0, Steps(0, 100));
  frames_.StoreSteps(0, Steps(300, 9'000));
  Compact();
  frames_.StoreSteps(0, Steps(50, 400));
  EXPECT_EQ(Read(), Steps(0, 9'300));
  Compact();
  EXPECT_EQ(Read(), Steps(0, 9'300));
  EXPECT_EQ(Count("frames"), 0);
}

TEST_F(CompactStepsTest, WhoReadsWhileItCompactsSeesEachStepOnce) {
  constexpr std::int64_t kSteps = 6'000;
  const Numbered expected = Steps(0, kSteps);
  std::jthread reader([&](const std::stop_token& stop) {
    const auto own = database_.Connect();
    std::size_t seen = 0;
    while (!stop.stop_requested()) {
      const auto steps = ReadSteps(*own, {.job_id = frames_.job_id(), .rank = 0});
      ASSERT_TRUE(steps) << steps.error().message;
      ASSERT_GE(steps->size(), seen);
      seen = steps->size();
      for (std::size_t i = 0; i < seen; ++i) ASSERT_EQ((*steps)[i].number, expected[i].first);
    }
  });
  for (std::int64_t first = 0; first < kSteps; first += 20) {
    frames_.StoreSteps(0, Steps(first, 20));
    Compact();
  }
  reader.request_stop();
  reader.join();
  EXPECT_EQ(Read(), expected);
}

// 64 nodes of one rank, with 20 frames each.
TEST_F(CompactStepsTest, ARankDoesNotReadWhatWaitsOfOtherNodes) {
  frames_.StoreSteps(0, Steps(0, 2));
  ASSERT_TRUE(connection_->Execute(
      "insert into frames select job_id, 1000 + n, session, 1000 * n + i, kind, n, schema_hash, "
      "from_us, to_us, rows, false, payload "
      "from frames, generate_series(1, 63) as n, generate_series(1, 20) as i; analyze"));
  const auto ranks = RanksToCompact(*connection_, frames_.job_id(), FrameKind::kSteps);
  ASSERT_TRUE(ranks && ranks->size() == 64);
  for (const RankOfNode& rank : *ranks) {
    ASSERT_TRUE(CompactSteps(*connection_, frames_.job_id(), rank));
  }
  EXPECT_EQ(Count("frames"), 0);
  ASSERT_TRUE(connection_->Query("select pg_stat_force_next_flush()"));
  ASSERT_TRUE(connection_->Execute("select 1"));
  const auto reader = database_.Connect();
  const auto read = reader->Query(
      "select seq_tup_read + idx_tup_fetch from pg_stat_user_tables where relname = 'frames'");
  ASSERT_TRUE(read);
  EXPECT_LT(read->Int(0, 0), 10'000);
}

}  // namespace
}  // namespace stepscope
