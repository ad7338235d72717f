#include "server/trace/compare/without_waiting.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/base/json_members.h"
#include "server/trace/trace_json.h"

namespace stepscope {
namespace {

constexpr std::size_t kFewest = 3;  // collectives of all ranks

// Between two collectives: how long each rank took until it came, and the second one itself.
struct RankStretch {
  std::vector<std::int64_t> own_ns;  // by the order of the ranks
  std::int64_t wire_ns = 0;
};

bool IsOfAll(const AlignedCollective& collective) {
  return std::ranges::none_of(collective.arrivals_ns, [](std::int64_t ns) { return ns < 0; });
}

std::int64_t EndOf(const AlignedCollective& collective) {
  return collective.start_ns + std::ranges::max(collective.arrivals_ns) + collective.wire_ns;
}

std::vector<RankStretch> StretchesOf(const std::vector<const AlignedCollective*>& collectives) {
  std::vector<RankStretch> stretches;
  for (std::size_t i = 1; i < collectives.size(); ++i) {
    const std::int64_t before = EndOf(*collectives[i - 1]);
    RankStretch stretch{{}, collectives[i]->wire_ns};
    for (const std::int64_t arrival : collectives[i]->arrivals_ns) {
      const std::int64_t own = collectives[i]->start_ns + arrival - before;
      stretch.own_ns.push_back(std::max<std::int64_t>(own, 0));
    }
    stretches.push_back(std::move(stretch));
  }
  return stretches;
}

template <typename Own>
std::int64_t Total(const std::vector<RankStretch>& stretches, const Own& own) {
  std::int64_t total = 0;
  for (const RankStretch& stretch : stretches) total += own(stretch.own_ns) + stretch.wire_ns;
  return total;
}

std::int64_t MeanOwn(const std::vector<std::int64_t>& all) {
  return std::accumulate(all.begin(), all.end(), std::int64_t{0}) / std::ssize(all);
}

std::int64_t MedianOwn(std::vector<std::int64_t> all) {
  std::ranges::sort(all);
  return (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
}

}  // namespace

WithoutWaiting MakeWithoutWaiting(const AlignedRanks& aligned) {
  WithoutWaiting without;
  if (aligned.ranks.size() < 2) {
    without.unknown = "fewer than two ranks share collectives";
    return without;
  }
  std::vector<const AlignedCollective*> of_all;
  for (const AlignedCollective& each : aligned.collectives) {
    if (IsOfAll(each)) of_all.push_back(&each);
  }
  without.collectives = of_all.size();
  if (of_all.size() < kFewest || of_all.size() * 2 < aligned.collectives.size()) {
    without.unknown = "too few collectives are of all ranks";
    return without;
  }
  std::ranges::stable_sort(of_all, {}, [](const auto* each) { return EndOf(*each); });
  const std::vector<RankStretch> stretches = StretchesOf(of_all);
  without.recorded_ns = EndOf(*of_all.back()) - EndOf(*of_all.front());
  const auto latest = [](const auto& own) { return std::ranges::max(own); };
  // One by one they take longer than they did where they run side by side.
  if (std::abs(Total(stretches, latest) - without.recorded_ns) > without.recorded_ns / 20) {
    without.unknown = "collectives run side by side";
    return without;
  }
  without.even_ns = std::min(Total(stretches, MeanOwn), without.recorded_ns);
  without.median_ns = std::min(Total(stretches, MedianOwn), without.recorded_ns);
  for (std::size_t i = 0; i < aligned.ranks.size(); ++i) {
    const std::int64_t total = Total(stretches, [&](std::vector<std::int64_t> own) {
      own.erase(own.begin() + std::int64_t(i));
      return std::ranges::max(own);
    });
    without.ranks.push_back({aligned.ranks[i].rank, std::min(total, without.recorded_ns)});
  }
  std::ranges::stable_sort(without.ranks, {}, &WithoutWaiting::Rank::without_ns);
  if (without.ranks.size() > kMostWithout) without.ranks.resize(kMostWithout);
  return without;
}

OrderedJson ToJson(const WithoutWaiting& without) {
  const bool known = without.unknown.empty();
  const auto seconds = [&](std::int64_t ns) {
    return known ? OrderedJson(SecondsOf(ns)) : OrderedJson();
  };
  OrderedJson ranks = OrderedJson::array();
  for (const WithoutWaiting::Rank& each : without.ranks) {
    ranks.push_back(
        {{"rank", each.rank},
         {"without_seconds", SecondsOf(each.without_ns)},
         {"saved_share", ShareOf(without.recorded_ns - each.without_ns, without.recorded_ns)}});
  }
  return {{"unknown", NullIfEmpty(without.unknown)},
          {"collectives", without.collectives},
          {"recorded_seconds", seconds(without.recorded_ns)},
          {"even_seconds", seconds(without.even_ns)},
          {"median_seconds", seconds(without.median_ns)},
          {"ranks", std::move(ranks)}};
}

}  // namespace stepscope
