#include "rules/signals/slow_runs.h"

#include <gtest/gtest.h>

#include "rules/engine/packing.h"

namespace stepscope {
namespace {

SlowRun RunAt(std::int64_t at) {
  return {at,
          FromMicros(at * 250'000 + 7),
          FromMicros(at * 250'000 + 9),
          at * 1'234'567 % 9'999'991,
          static_cast<std::size_t>(at) % kGrowths,
          SlowRun::kUntold};
}

TEST(SlowRuns, KeepsTheNewestAndFindsThemByPosition) {
  SlowRuns runs;
  for (std::int64_t at = 1; at <= 1'000; ++at) runs.Add(RunAt(3 * at));
  EXPECT_EQ(runs.all().size(), SlowRuns::kMost);
  EXPECT_EQ(runs.all().back().at, 3'000);
  EXPECT_EQ(runs.Find(2'999), nullptr);
  ASSERT_NE(runs.Find(2'997), nullptr);
  EXPECT_NEAR(static_cast<double>(runs.At(2'997).excess_ns),
              static_cast<double>(RunAt(2'997).excess_ns), 1e-3 * 1e7);
  runs.Remove(2'997);
  EXPECT_EQ(runs.Find(2'997), nullptr);
}

TEST(SlowRuns, ComeBackAsTheyWereSaved) {
  SlowRuns runs;
  for (const std::int64_t at : {1, 4, 133, 70'000, 9'000'000}) runs.Add(RunAt(at));
  SlowRun last = RunAt(9'000'001);
  last.from = FromMicros(-5'000'000);  // a clock that was set back
  last.excess_ns = INT64_MAX;
  runs.Add(last);
  SlowRuns loaded;
  ASSERT_TRUE(loaded.Load(runs.Save()).ok());
  EXPECT_EQ(loaded.Save(), runs.Save());
  ASSERT_EQ(loaded.all().size(), runs.all().size());
  for (std::size_t i = 0; i < runs.all().size(); ++i) {
    const SlowRun &saved = runs.all()[i], &read = loaded.all()[i];
    EXPECT_EQ(saved.at, read.at);
    EXPECT_EQ(saved.from, read.from);
    EXPECT_EQ(saved.excess_ns, read.excess_ns);
    EXPECT_EQ(saved.grew, read.grew);
    EXPECT_EQ(saved.signs, read.signs);
  }
}

TEST(SlowRuns, RefusesWhatItNeverSaves) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 63;
  for (const std::vector<std::uint64_t>& numbers : std::vector<std::vector<std::uint64_t>>{
           {1}, {kHuge, 1, 1}, {1, kHuge - 1, 1}, {1, 1, 1, 0, 1, 1}, {1, 1, ~std::uint64_t{0}}}) {
    EXPECT_FALSE(SlowRuns().Load(PackNumbers(numbers)).ok()) << numbers.size();
  }
  EXPECT_FALSE(
      SlowRuns().Load(PackNumbers(std::vector<std::uint64_t>(3 * SlowRuns::kMost + 3, 1))).ok());
}

}  // namespace
}  // namespace stepscope
