#include "server/store/steps/block_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

#include "server/store/steps/step_blocks.h"
#include "tests/support/mutate.h"

namespace stepscope {
namespace {

std::vector<Step> RandomSteps(std::size_t count, std::mt19937_64& dice, bool gpu_clock = false) {
  std::vector<Step> steps(count);
  std::int64_t start_us = 1'795'205'400'000'000;
  for (std::size_t i = 0; i < count; ++i) {
    const auto wall_ns = static_cast<std::int64_t>(900'000'000 + dice() % 200'000'000);
    steps[i].number = static_cast<std::int64_t>(i) + 7;
    steps[i].start = FromMicros(start_us);
    steps[i].wall = Duration(wall_ns);
    for (const auto& [phase, part] : {std::pair{0, 4}, {2, 5}, {4, 3}, {6, 50}}) {
      steps[i].phases[phase] = Duration(wall_ns / part);
    }
    if (gpu_clock) {
      steps[i].gpu_phases[2] = Duration(wall_ns / 6);
      steps[i].gpu_idle = Duration(wall_ns / 9);
    }
    start_us += wall_ns / 1'000 + 3;
  }
  return steps;
}

TEST(BlockSummary, TellsOfEachStepOnce) {
  std::mt19937_64 dice(1);
  const std::vector<Step> steps = RandomSteps(150, dice);
  const BlockSummary summary = SummariseBlock(steps);
  EXPECT_EQ(CountSteps(summary), 150);
  ASSERT_EQ(summary.points.size(), 3u);
  EXPECT_EQ(summary.points[1].step, 7 + std::int64_t{kStepsPerPoint});
  EXPECT_EQ(summary.points[2].count, 150 - 2 * std::int64_t{kStepsPerPoint});
  EXPECT_EQ(summary.last_step, 156);
  EXPECT_EQ(summary.min_wall_ns, std::ranges::min(steps, {}, &Step::wall).wall.count());
  EXPECT_EQ(summary.max_wall_ns, std::ranges::max(steps, {}, &Step::wall).wall.count());
  std::int64_t wall_ns = 0, data_ns = 0, in_bins = 0, in_points = 0;
  for (const Step& step : steps) wall_ns += step.wall.count(), data_ns += step.phases[0].count();
  for (const DurationBin& wall : summary.walls) in_bins += wall.count;
  for (const StepPoint& point : summary.points) in_points += point.wall_ns;
  std::int64_t data_in_points = 0;
  for (const StepPoint& point : summary.points) data_in_points += point.sums[0];
  EXPECT_LE(data_in_points, data_ns);
  EXPECT_GT(data_in_points, data_ns - 3 * 1'000) << "less than a microsecond for each of three";
  EXPECT_EQ(in_bins, 150);
  EXPECT_EQ(in_points, wall_ns);
  EXPECT_EQ(summary.times_ns.ns[0], data_ns);
}

TEST(BlockSummary, SurvivesAsFewBytes) {
  std::mt19937_64 dice(2);
  for (const std::size_t count :
       {std::size_t{1}, kStepsPerPoint, kStepsPerPoint + 1, kStepsPerBlock}) {
    const BlockSummary summary = SummariseBlock(RandomSteps(count, dice));
    const std::string bytes = EncodeSummary(summary);
    EXPECT_LT(bytes.size(), 1'900u) << "it stays in its row, beside the payload";
    const Result<BlockSummary> again = DecodeSummary(bytes);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, summary);
  }
}

TEST(BlockSummary, TellsTimesByTheGpusClockAndForHowManySteps) {
  std::mt19937_64 dice(5);
  std::vector<Step> steps = RandomSteps(100, dice, true);
  steps[99].gpu_idle.reset();
  steps[3].evaluation = 2s;
  const BlockSummary summary = SummariseBlock(steps);
  EXPECT_EQ(summary.times_ns.gpu_steps, 99);
  EXPECT_EQ(summary.times_ns.ns[kEvaluationTime], 2'000'000'000);
  EXPECT_EQ(summary.points[1].sums[kPointGpuSteps], 100 - std::int64_t{kStepsPerPoint} - 1);
  EXPECT_EQ(*DecodeSummary(EncodeSummary(summary)), summary);
}

// Blocks of version 0.1.0 knew ten phases and no GPU times.
TEST(BlockSummary, ThatOfTheVersionBeforeIsRead) {
  std::string old = EncodeSummary(SummariseBlock(std::vector<Step>(1)));
  ASSERT_EQ(old.substr(old.size() - 5), std::string("\0\0\x01\0\x01", 5)) << "times, then walls";
  old = "\x02" + old.substr(1, old.size() - 6) + std::string("\x06") + std::string(9, '\0') +
        std::string("\x01\0\x01", 3);
  const Result<BlockSummary> read = DecodeSummary(old);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->times_ns.ns[0], 3);
  EXPECT_EQ(read->times_ns.gpu_steps, 0);
}

TEST(BlockSummary, SurvivesTheEndsOfInt64) {
  std::vector<Step> steps(3);
  steps[1] = {INT64_MAX, FromMicros(4'102'444'799'999'999), Duration(INT64_MAX), {}};
  steps[2] = steps[1];
  steps[2].phases.fill(Duration(INT64_MAX));
  const BlockSummary summary = SummariseBlock(steps);
  EXPECT_EQ(summary.points[0].wall_ns, INT64_MAX) << "the sum of two of them";
  const Result<BlockSummary> again = DecodeSummary(EncodeSummary(summary));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, summary);
}

// Whatever is read has bounds, and can be written.
void ExpectSane(const std::string& bytes) {
  const Result<BlockSummary> summary = DecodeSummary(bytes);
  if (!summary) return;
  EXPECT_LE(summary->points.size(), kStepsPerBlock / kStepsPerPoint);
  EXPECT_LE(summary->walls.size(), kStepsPerBlock);
  EXPECT_GT(CountSteps(*summary), 0);
  EXPECT_EQ(*DecodeSummary(EncodeSummary(*summary)), *summary);
}

TEST(BlockSummary, DamagedBytesAreRefusedOrSane) {
  std::mt19937_64 random(3);
  const std::string bytes = EncodeSummary(SummariseBlock(RandomSteps(500, random)));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(DecodeSummary(bytes.substr(0, length))) << length;
  }
  EXPECT_FALSE(DecodeSummary(bytes + '\0'));
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    ExpectSane(flipped);
  }
  std::mt19937 dice(3);
  for (int i = 0; i < 20'000; ++i) ExpectSane(Mutate(bytes, dice));
}

TEST(BlockSummary, DeclaredSizesAreChecked) {
  const std::string huge = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  EXPECT_FALSE(DecodeSummary("\x02" + huge + "\x01")) << "points";
  EXPECT_FALSE(DecodeSummary("\x02\x01" + huge)) << "steps in the last point";
  std::string bins = EncodeSummary(SummariseBlock(std::vector<Step>(1)));
  ASSERT_TRUE(DecodeSummary(bins));
  EXPECT_FALSE(DecodeSummary(bins.substr(0, bins.size() - 3) + huge + "\x01\x01"));
  std::string other = bins;
  for (const char version : {'\1', '\4'}) {
    other[0] = version;
    EXPECT_FALSE(DecodeSummary(other)) << "version " << int{version};
  }
}

TEST(BlockSummary, PhasesOfPointsAreCheckedToo) {
  const std::string huge = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  const std::string none = EncodeSummary(SummariseBlock(std::vector<Step>(1)));
  const std::string head = none.substr(0, 3), rest = none.substr(4);
  ASSERT_TRUE(DecodeSummary(head + '\0' + rest)) << "no phase";
  EXPECT_FALSE(DecodeSummary(head + "\x80\x80\x02" + rest)) << "a sum that there is not";
  const std::string step = rest.substr(0, 3), behind = rest.substr(3);
  ASSERT_TRUE(DecodeSummary(head + "\x01" + step + "\x0e" + behind)) << "7 us";
  EXPECT_FALSE(DecodeSummary(head + "\x01" + step + "\x0d" + behind)) << "less than nothing";
  EXPECT_FALSE(DecodeSummary(head + "\x01" + step + huge + behind)) << "overflows as nanoseconds";
}

}  // namespace
}  // namespace stepscope
