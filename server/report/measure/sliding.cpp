#include "server/report/measure/sliding.h"

#include <algorithm>
#include <cmath>

#include "rules/stats/statistics.h"

namespace stepscope {
namespace {

// Large enough for percentages; more bins make each percentile a longer walk.
constexpr std::uint64_t kDirectBins = 16'384;

// Maps each value to a small number for a histogram: its distance from the least value where that
// is small for all, else its place among the values that occur. Both keep the order, so nothing is
// rounded.
struct Places {
  std::int64_t least = 0;
  std::vector<std::int64_t> occur;  // ascending; empty where a place is a distance
  std::size_t count = 0;

  explicit Places(std::span<const std::int64_t> values) {
    const auto [low, high] = std::ranges::minmax_element(values);
    least = *low;
    const std::uint64_t range =
        static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low);
    if (range < kDirectBins) {
      count = static_cast<std::size_t>(range) + 1;
      return;
    }
    occur.assign(values.begin(), values.end());
    std::ranges::sort(occur);
    const auto tail = std::ranges::unique(occur);
    occur.erase(tail.begin(), tail.end());
    count = occur.size();
  }
  std::uint32_t Of(std::int64_t value) const {
    if (occur.empty()) return static_cast<std::uint32_t>(value - least);
    return static_cast<std::uint32_t>(std::ranges::lower_bound(occur, value) - occur.begin());
  }
  std::int64_t ValueAt(std::uint32_t place) const {
    return occur.empty() ? least + place : occur[place];
  }
};

}  // namespace

std::vector<std::vector<std::int64_t>> SlidePercentiles(std::span<const std::int64_t> values,
                                                        std::size_t window,
                                                        std::span<const std::size_t> ends,
                                                        std::span<const double> shares) {
  std::vector<std::vector<std::int64_t>> rows(shares.size());
  if (values.empty()) return rows;
  const Places places(values);
  std::vector<std::uint32_t> at;
  at.reserve(values.size());
  for (const std::int64_t value : values) at.push_back(places.Of(value));
  WindowBins bins(places.count);
  std::size_t from = 0, to = 0;  // range of values that the bins hold
  for (const std::size_t end : ends) {
    const std::size_t begin = end > window ? end - window : 0;
    // Removes before it adds: the counts never hold more than a window.
    for (; from < std::min(begin, to); ++from) bins.Remove(at[from]);
    if (begin > to) from = to = begin;
    for (; to < end; ++to) bins.Add(at[to]);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      rows[i].push_back(places.ValueAt(bins.Percentile(shares[i])));
    }
  }
  return rows;
}

std::size_t NearestRank(double share, std::size_t count) {
  const double rank = std::ceil(share * static_cast<double>(count));
  return std::min(rank < 1 ? 0 : static_cast<std::size_t>(rank) - 1, count - 1);
}

std::vector<std::int64_t> PercentilesOf(std::vector<std::int64_t> values,
                                        std::span<const double> shares) {
  std::ranges::sort(values);
  std::vector<std::int64_t> row;
  for (const double share : shares) row.push_back(values[NearestRank(share, values.size())]);
  return row;
}

std::vector<std::size_t> EvenEnds(std::size_t first, std::size_t last, std::size_t most) {
  const std::size_t count = last - first, some = std::min(count, most);
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i <= some; ++i) ends.push_back(first + i * count / some);
  return ends;
}

}  // namespace stepscope
