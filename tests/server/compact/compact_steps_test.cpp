#include "server/compact/compact_steps.h"

#include <gtest/gtest.h>

#include <thread>

#include "server/store/series.h"
#include "server/store/step_blocks.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBegin = 1'795'205'400'000'000;

using Numbered = std::vector<std::pair<std::int64_t, std::int64_t>>;  // number, start_us

class CompactStepsTest : public ::testing::Test {
 protected:
  CompactStepsTest() : connection_(database_.Connect()), frames_(*connection_) {}

  // Steps of 1 ms, from a number on.
  Numbered Steps(std::int64_t first, std::int64_t count) {
    Numbered steps;
    for (std::int64_t i = first; i < first + count; ++i) steps.push_back({i, kBegin + i * 1'000});
    return steps;
  }
  Compacted Compact() {
    const Result<Compacted> done = CompactSteps(*connection_, frames_.job_id(), 0);
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

}  // namespace
}  // namespace stepscope
