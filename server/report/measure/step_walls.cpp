#include "server/report/measure/step_walls.h"

#include <algorithm>
#include <cmath>

namespace stepscope {

void StepWalls::Widen(std::int64_t min_ns, std::int64_t max_ns, std::int64_t count) {
  min_ns_ = count_ == 0 ? min_ns : std::min(min_ns_, min_ns);
  max_ns_ = count_ == 0 ? max_ns : std::max(max_ns_, max_ns);
  count_ += count;
}

void StepWalls::Add(std::int64_t wall_ns) {
  Widen(wall_ns, wall_ns, 1);
  sum_ns_ += double(wall_ns);
  each_.push_back(wall_ns);
}

void StepWalls::Add(const BlockSummary& summary) {
  Widen(summary.min_wall_ns, summary.max_wall_ns, CountSteps(summary));
  bins_.resize(kDurationBins);
  for (const DurationBin& wall : summary.walls) bins_[wall.bin] += wall.count;
  for (const StepPoint& point : summary.points) sum_ns_ += double(point.wall_ns);
}

void StepWalls::Finish() {
  if (exact()) {
    std::ranges::sort(each_);
    return;
  }
  for (const std::int64_t ns : each_) ++bins_[DurationBinOf(ns)];
  each_ = {};
}

double StepWalls::Percentile(double share) const {
  const auto place =
      std::clamp<std::int64_t>(std::llround(std::ceil(share * double(count_))), 1, count_);
  if (exact()) return double(each_[static_cast<std::size_t>(place) - 1]);
  if (place == 1 || place == count_) return double(place == 1 ? min_ns_ : max_ns_);
  std::uint32_t bin = 0;
  for (std::int64_t seen = bins_[0]; seen < place; seen += bins_[bin]) ++bin;
  const double middle = DurationBinBegin(bin) + (DurationBinWidth(bin) - 1) / 2;
  return std::clamp(middle, double(min_ns_), double(max_ns_));
}

// The values in the bin of `ns` are taken as spread evenly over the bin.
std::int64_t StepWalls::CountBelow(double ns) const {
  if (exact()) {
    const auto below = [](std::int64_t wall_ns, double edge) { return double(wall_ns) < edge; };
    return std::lower_bound(each_.begin(), each_.end(), ns, below) - each_.begin();
  }
  double count = 0;
  const std::uint32_t last = DurationBinOf(max_ns_);
  for (std::uint32_t bin = DurationBinOf(min_ns_); bin <= last; ++bin) {
    if (bins_[bin] == 0) continue;
    const double begin = std::max(DurationBinBegin(bin), double(min_ns_));
    const double end = std::min(DurationBinBegin(bin) + DurationBinWidth(bin), double(max_ns_) + 1);
    if (begin >= ns) break;
    count += double(bins_[bin]) * std::min((ns - begin) / (end - begin), 1.0);
  }
  return std::llround(count);
}

}  // namespace stepscope
