#include "server/store/steps/new_steps.h"

#include <gtest/gtest.h>

#include <random>

#include "server/compact/compact_steps.h"
#include "server/store/steps/steps.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

constexpr std::int64_t kNewStepsBegin = 1'795'205'400'000'000;

class NewStepsTest : public ::testing::Test {
 protected:
  NewStepsTest() : connection_(database_.Connect()), frames_(*connection_) {}

  void Store(int rank, std::vector<std::pair<std::int64_t, std::int64_t>> steps) {
    for (auto& [number, start_us] : steps) start_us += kNewStepsBegin;
    frames_.StoreSteps(rank, steps);
  }
  std::optional<std::map<int, std::vector<Step>>> Read(const std::vector<StepPosition>& places) {
    auto steps = ReadNewSteps(*connection_, frames_.job_id(), places, kUntil);
    EXPECT_TRUE(steps) << steps.error().message;
    return std::move(*steps);
  }
  std::vector<Step> ReadOne(const StepPosition& place) {
    auto steps = ReadSteps(*connection_, {.job_id = frames_.job_id(),
                                          .rank = place.rank,
                                          .after_us = place.after_us,
                                          .until_us = kUntil});
    EXPECT_TRUE(steps) << steps.error().message;
    return std::move(*steps);
  }

  static constexpr std::int64_t kUntil = kNewStepsBegin + 900;
  TestDatabase database_;
  std::unique_ptr<Connection> connection_;
  JobFrames frames_;
};

bool Same(const std::vector<Step>& a, const std::vector<Step>& b) {
  return std::ranges::equal(a, b, [](const Step& one, const Step& other) {
    return one.number == other.number && one.start == other.start && one.wall == other.wall &&
           one.phases == other.phases;
  });
}

// Frames overlap, some are in blocks by now, and positions are anywhere.
TEST_F(NewStepsTest, SaysOfEachRankWhatReadingItAloneSays) {
  std::mt19937 dice(11);
  for (int turn = 0; turn < 60; ++turn) {
    std::vector<std::pair<std::int64_t, std::int64_t>> steps;
    for (unsigned i = 0; i < 1 + dice() % 5; ++i) {
      const std::int64_t at = dice() % 1000;
      steps.emplace_back(at, at);
    }
    const int rank = static_cast<int>(dice() % 3);
    Store(rank, steps);
    if (dice() % 10 == 0) {
      ASSERT_TRUE(CompactSteps(*connection_, frames_.job_id(), {rank}));
    }
    std::vector<StepPosition> places;
    for (int each = 0; each < 4; ++each) {
      places.push_back(
          {each, dice() % 3 == 0 ? -1 : kNewStepsBegin + static_cast<int>(dice() % 1000)});
    }
    const auto found = Read(places);
    ASSERT_TRUE(found.has_value());
    for (const StepPosition& place : places) {
      EXPECT_TRUE(Same(found->at(place.rank), ReadOne(place))) << turn << " rank " << place.rank;
    }
  }
}

TEST_F(NewStepsTest, LeavesALongStretchToOthers) {
  for (std::int64_t frame = 0; frame < 100; ++frame) Store(0, {{frame, frame}});
  EXPECT_FALSE(Read({{0, -1}}).has_value());
  EXPECT_TRUE(Read({{0, kNewStepsBegin + 90}}).has_value());
  EXPECT_TRUE(Read({}).has_value());
}

}  // namespace
}  // namespace stepscope
