#include "rules/signals/workloads.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "rules/engine/packing.h"

namespace stepscope {

double Workload::DistanceTo(const Workload& other) const {
  double area = 0;
  std::uint64_t below = 0, other_below = 0;
  for (std::size_t bin = 0; bin + 1 < kBins; ++bin) {
    below += counts_[bin];
    other_below += other.counts_[bin];
    area += std::abs(static_cast<double>(below) / static_cast<double>(total_) -
                     static_cast<double>(other_below) / static_cast<double>(other.total_));
  }
  return area / 100;
}

std::string Workload::Save() const {
  return PackNumbers({counts_.begin(), counts_.end()});
}

Status Workload::Load(std::string_view packed) {
  const auto numbers = UnpackNumbers(packed, kBins);
  if (!numbers.ok()) return numbers.error();
  if (numbers->size() != kBins) return Invalid("state: a workload does not have 101 counts");
  *this = {};
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    const std::uint64_t count = (*numbers)[bin];
    if (count > std::numeric_limits<std::uint64_t>::max() - total_) {
      return Invalid("state: a workload has too many samples");
    }
    counts_[bin] = count;
    total_ += count;
    sum_ += bin * count;
  }
  return {};
}

std::vector<GpuPair> PairsOf(std::vector<std::pair<Subject, const Workload*>> gpus) {
  const auto by_mean = [](const auto& a, const auto& b) {
    return a.second->Mean() < b.second->Mean();
  };
  std::ranges::stable_sort(gpus, by_mean);
  if (gpus.size() > kMostCompared) {
    const Workload& middle = *gpus[gpus.size() / 2].second;
    std::vector<std::pair<double, std::size_t>> far;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      far.emplace_back(-gpus[i].second->DistanceTo(middle), i);
    }
    std::ranges::sort(far);
    std::vector<bool> chosen(gpus.size());
    for (std::size_t i = 0; i < kMostCompared / 2; ++i) chosen[far[i].second] = true;
    // Adds the least and the most used of the others, from both ends inwards.
    for (std::size_t i = 0; i < kMostCompared / 4; ++i) {
      *std::ranges::find(chosen, false) = true;
      *std::find(chosen.rbegin(), chosen.rend(), false) = true;
    }
    std::vector<std::pair<Subject, const Workload*>> furthest;
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      if (chosen[i]) furthest.push_back(gpus[i]);
    }
    gpus = std::move(furthest);
  }
  std::vector<GpuPair> pairs;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = i + 1; j < gpus.size(); ++j) {
      const double distance = gpus[i].second->DistanceTo(*gpus[j].second);
      pairs.push_back({gpus[i].first, gpus[j].first, distance});
    }
  }
  std::ranges::stable_sort(pairs, std::greater<>(), &GpuPair::distance);
  return pairs;
}

}  // namespace stepscope
