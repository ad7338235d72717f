// Figures from bins are close to those from the wall times themselves.

#include "server/report/measure/step_walls.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "server/store/steps/step_blocks.h"

namespace stepscope {
namespace {

using Draw = std::function<double(std::mt19937_64&)>;  // a wall time in ns
struct Shape {
  const char* name;
  Draw draw;
};
const Shape kShapes[] = {
    {"constant", [](auto&) { return 123'456'789.0; }},
    {"zeros", [](auto& dice) { return dice() % 3 == 0 ? 0.0 : double(dice() % 1'000); }},
    {"narrow", [](auto& dice) { return std::normal_distribution(1e9, 1e5)(dice); }},
    {"lognormal", [](auto& dice) { return std::lognormal_distribution(16.0, 2.0)(dice); }},
    {"pareto",
     [](auto& dice) {
       return 1e6 * std::pow(std::uniform_real_distribution(1e-7, 1.0)(dice), -1.2);
     }},
    {"two heaps",
     [](auto& dice) { return std::normal_distribution(dice() % 50 ? 4e7 : 3e9, 1e6)(dice); }},
    {"any", [](auto& dice) { return std::exp2(std::uniform_real_distribution(0.0, 55.0)(dice)); }},
};

std::vector<Step> Draws(const Shape& shape, std::size_t count, std::mt19937_64& dice) {
  std::vector<Step> steps(count);
  for (Step& step : steps) step.wall = Duration(std::llround(std::max(shape.draw(dice), 0.0)));
  return steps;
}

// Adds equal steps one by one, and as blocks with some steps left over.
struct Both {
  StepWalls exact, binned;

  explicit Both(const std::vector<Step>& steps) {
    for (const Step& step : steps) exact.Add(step.wall.count());
    std::span<const Step> rest(steps);
    for (; rest.size() >= 700; rest = rest.subspan(700)) {
      binned.Add(*DecodeSummary(EncodeSummary(SummariseBlock(rest.first(700)))));
    }
    for (const Step& step : rest) binned.Add(step.wall.count());
    exact.Finish();
    binned.Finish();
  }
};

TEST(StepWalls, PercentilesOfBinsAreWithinTheError) {
  std::mt19937_64 dice(1);
  for (const Shape& shape : kShapes) {
    for (const std::size_t count : {700, 701, 5'000, 30'011}) {
      const Both both(Draws(shape, count, dice));
      EXPECT_EQ(both.binned.count(), both.exact.count());
      EXPECT_EQ(both.binned.min_ns(), both.exact.min_ns());
      EXPECT_EQ(both.binned.max_ns(), both.exact.max_ns());
      EXPECT_NEAR(both.binned.sum_ns(), both.exact.sum_ns(), 1e-9 * both.exact.sum_ns());
      for (const double share : {0.0, 0.001, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0}) {
        const double exact = both.exact.Percentile(share);
        EXPECT_NEAR(both.binned.Percentile(share), exact, exact * kDurationErrorPercent / 100)
            << shape.name << " " << count << " " << share;
      }
    }
  }
}

// The count below an edge is the exact count below an edge within the width of a bin.
TEST(StepWalls, CountsBelowAnEdgeAreThoseOfOneNearby) {
  std::mt19937_64 dice(2);
  for (const Shape& shape : kShapes) {
    const Both both(Draws(shape, 20'000, dice));
    std::int64_t before = 0;
    for (double ns = 1; ns < 1e17; ns *= 1.037) {
      const std::int64_t count = both.binned.CountBelow(ns);
      EXPECT_GE(count, both.exact.CountBelow(ns * (1 - 1.0 / 128) - 1)) << shape.name << " " << ns;
      EXPECT_LE(count, both.exact.CountBelow(ns * (1 + 1.0 / 128) + 1)) << shape.name << " " << ns;
      EXPECT_GE(count, before);
      before = count;
    }
    EXPECT_EQ(both.binned.CountBelow(1e19), 20'000);
  }
}

TEST(StepWalls, FewStepsAreExact) {
  StepWalls walls;
  for (const std::int64_t ns : {300, 1'001, 200}) walls.Add(ns);
  walls.Finish();
  EXPECT_TRUE(walls.exact());
  EXPECT_EQ(walls.Percentile(0.5), 300);
  EXPECT_EQ(walls.Percentile(0.99), 1'001);
  EXPECT_EQ(walls.CountBelow(300), 1);
}

}  // namespace
}  // namespace stepscope
