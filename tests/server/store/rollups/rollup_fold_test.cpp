#include "server/store/rollups/rollup_fold.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr std::int64_t kBegin = 1'795'204'800'000'000;  // begin of an hour
constexpr std::int64_t kSecond = 1'000'000;
constexpr RollupLevel kLevel = kRollupLevels[0];
const RollupKey kKey{kLevel.bin_us, "user.a", kBegin};

// Bins of a device, a sample a second from `from` seconds on.
TickTable BinsOf(const std::string& device, std::int64_t from, std::vector<std::int64_t> values) {
  TickTable ticks{{}, {{"user.a", device}}, {{1, std::move(values), {}}}};
  for (std::size_t i = 0; i < ticks.columns[0].values.size(); ++i) {
    ticks.at_us.push_back(kBegin + (from + static_cast<std::int64_t>(i)) * kSecond);
  }
  return RollUp(ticks, kLevel.bin_us);
}

FoldedRollup FoldNodes(const std::vector<std::vector<TickTable>>& nodes) {
  RollupFold fold(kKey);
  for (const std::vector<TickTable>& node : nodes) fold.AddNode(node);
  return fold.Take();
}

TEST(RollupFold, CountsEachSeriesOnceHoweverManySamplesItHas) {
  const FoldedRollup folded = FoldNodes(
      {{BinsOf("0", 0, {100, 300, 200})}, {BinsOf("0", 5, {40}), BinsOf("1", 2, {10, 30})}});
  EXPECT_EQ(folded.series, 3);
  EXPECT_EQ(folded.scale, 1);
  ASSERT_EQ(folded.bins.size(), 1u);
  const FoldedBin& bin = folded.bins[0];
  EXPECT_EQ(bin.at_us, kBegin);
  EXPECT_EQ(bin.weight, 3);
  EXPECT_EQ(bin.count, 3 * 3);
  EXPECT_DOUBLE_EQ(bin.sum, 3 * (20 + 4 + 2));
  EXPECT_EQ(bin.least, 1);
  EXPECT_EQ(bin.greatest, 30);
}

TEST(RollupFold, TakesWhatANodeHasOfABinTogether) {
  const FoldedRollup apart = FoldNodes({{BinsOf("0", 0, {100, 300}), BinsOf("0", 2, {500})}});
  const FoldedRollup whole = FoldNodes({{BinsOf("0", 0, {100, 300, 500})}});
  ASSERT_EQ(apart.bins.size(), 1u);
  EXPECT_EQ(apart.series, 1);
  EXPECT_EQ(apart.bins[0].count, 3);
  EXPECT_EQ(apart.bins[0].sum, whole.bins[0].sum);
  EXPECT_EQ(apart.bins[0].greatest, 50);
}

TEST(RollupFold, SumsDoNotDependOnHowManySamplesASeriesHas) {
  // A node measures twice a second, another once: together they have 10 + 20.
  const FoldedRollup folded =
      FoldNodes({{BinsOf("", 0, {100, 100})}, {BinsOf("", 0, {200, 200, 200, 200})}});
  EXPECT_DOUBLE_EQ(folded.bins[0].sum / folded.bins[0].weight, 30);
  EXPECT_DOUBLE_EQ(folded.bins[0].sum / folded.bins[0].count, 15);
}

// The sum of large values has fewer decimals than they have.
TEST(RollupFold, ReadsASumAtItsOwnScale) {
  const std::int64_t large = INT64_MAX / 10 * 10;
  const FoldedRollup folded = FoldNodes({{BinsOf("0", 0, {large, large, large})}});
  ASSERT_EQ(folded.bins.size(), 1u);
  EXPECT_DOUBLE_EQ(folded.bins[0].sum / folded.bins[0].count, double(large) / 10);
}

TEST(RollupFold, LeavesOutWhatIsNotOfItsTime) {
  const FoldedRollup folded =
      FoldNodes({{BinsOf("", -20, {1}), BinsOf("", 3'590, {2}), BinsOf("", 3'600, {3})}});
  ASSERT_EQ(folded.bins.size(), 1u);
  EXPECT_EQ(folded.bins[0].at_us, kBegin + 3'590 * kSecond);
}

TEST(RollupFold, TicksLieInTheRowsThatTheirRollupsWillBeIn) {
  const TickTable ticks{{kBegin - 1, kBegin, kBegin + 1},
                        {{"user.a", "0"}, {"user.a", "1"}, {"user.b", ""}},
                        {{0, {1, 2, 3}, {}}, {0, {4, 5, 6}, {}}, {0, {0, 7, 0}, {0, 1, 0}}}};
  const std::vector<StoredRollup> rows = RollUpTicks(ticks, kLevel);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].key, (RollupKey{kLevel.bin_us, "user.a", kBegin - kLevel.chunk_us}));
  EXPECT_EQ(rows[1].key, kKey);
  EXPECT_EQ(rows[1].bins.columns[0].values, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(rows[2].key, (RollupKey{kLevel.bin_us, "user.b", kBegin}));
}

}  // namespace
}  // namespace stepscope
