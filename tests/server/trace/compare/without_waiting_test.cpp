#include "server/trace/compare/without_waiting.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

// Collectives one behind the other; `own` by collective and rank: how long each takes until it
// comes. On the wire each takes 1 ms.
AlignedRanks Ranks(const std::vector<std::vector<std::int64_t>>& own_ms) {
  AlignedRanks aligned;
  for (std::size_t rank = 0; rank < own_ms.front().size(); ++rank) {
    aligned.ranks.push_back({.rank = int(rank)});
  }
  std::int64_t at = 5'000'000;
  for (const auto& own : own_ms) {
    AlignedCollective collective{.name = "allreduce", .group = ""};
    const std::int64_t first = std::ranges::min(own), last = std::ranges::max(own);
    collective.start_ns = at + first * 1'000'000;
    collective.wire_ns = 1'000'000;
    for (const std::int64_t ms : own) collective.arrivals_ns.push_back((ms - first) * 1'000'000);
    aligned.collectives.push_back(collective);
    at += (last + 1) * 1'000'000;
  }
  return aligned;
}

TEST(WithoutWaiting, OfASlowRankIsWhatTheOthersTake) {
  const auto without =
      MakeWithoutWaiting(Ranks({{4, 4, 4}, {4, 9, 4}, {4, 9, 4}, {4, 9, 4}, {5, 9, 4}}));
  EXPECT_EQ(without.unknown, "");
  EXPECT_EQ(without.collectives, 5u);
  EXPECT_EQ(without.recorded_ns, 40'000'000);
  ASSERT_EQ(without.ranks.size(), 3u);
  EXPECT_EQ(without.ranks[0].rank, 1);
  EXPECT_EQ(without.ranks[0].without_ns, 21'000'000);
  EXPECT_EQ(without.ranks[1].without_ns, 40'000'000);
  EXPECT_EQ(without.median_ns, 21'000'000);
  EXPECT_NEAR(double(without.even_ns), 27e6, 1e6);
  EXPECT_EQ(ToJson(without)["ranks"][0]["saved_share"], 0.475);
}

TEST(WithoutWaiting, OfRanksThatTakeTurnsBlamesNone) {
  const auto without = MakeWithoutWaiting(Ranks({{4, 4, 4}, {8, 4, 4}, {4, 8, 4}, {4, 4, 8}}));
  EXPECT_EQ(without.recorded_ns, 27'000'000);
  EXPECT_EQ(without.ranks[0].without_ns, 23'000'000) << "each is late once";
  EXPECT_EQ(without.median_ns, 15'000'000) << "but without any lateness it is quicker";
}

TEST(WithoutWaiting, IsUnknownWhereCollectivesAreFewOrSideBySide) {
  EXPECT_EQ(ToJson(MakeWithoutWaiting({}))["unknown"], "fewer than two ranks share collectives");
  EXPECT_NE(MakeWithoutWaiting(Ranks({{1, 2}, {2, 1}})).unknown, "");
  AlignedRanks side_by_side = Ranks({{4, 4}, {4, 4}, {4, 4}, {4, 4}});
  for (AlignedCollective& each : side_by_side.collectives) each.wire_ns = 30'000'000;
  const OrderedJson json = ToJson(MakeWithoutWaiting(side_by_side));
  EXPECT_EQ(json["unknown"], "collectives run side by side");
  EXPECT_EQ(json["even_seconds"], nullptr);
  AlignedRanks partial = Ranks({{4, 4}, {4, 4}, {4, 4}, {4, 4}});
  for (std::size_t i = 1; i < 4; ++i) partial.collectives[i].arrivals_ns[1] = -1;
  EXPECT_EQ(MakeWithoutWaiting(partial).unknown, "too few collectives are of all ranks");
}

}  // namespace
}  // namespace stepscope
