#include "server/report/measure/device_use.h"

#include <algorithm>
#include <cmath>

#include "core/model/metric.h"
#include "server/report/measure/sliding.h"

namespace stepscope {
namespace {

constexpr double kPerPercent = 10;

}  // namespace

DeviceUse::DeviceUse(std::int64_t from_us, std::int64_t width_us, bool percentage)
    : from_us_(from_us), width_us_(width_us) {
  if (percentage) values_.resize(static_cast<std::size_t>(100 * kPerPercent) + 1);
}

void DeviceUse::Add(std::int64_t at_us, double value, double least, double most) {
  least_ = count_ == 0 ? least : std::min(least_, least);
  most_ = count_ == 0 ? most : std::max(most_, most);
  if (count_ > 0 && at_us > last_us_) shortest_us_ = std::min(shortest_us_, at_us - last_us_);
  last_us_ = at_us;
  ++count_;
  sum_ += value;
  if (!values_.empty()) {
    ++values_[static_cast<std::size_t>(std::lround(std::clamp(value, 0.0, 100.0) * kPerPercent))];
  }
  const auto place =
      static_cast<std::size_t>(std::max<std::int64_t>(at_us - from_us_, 0) / width_us_);
  if (place >= stretches_.size()) stretches_.resize(place + 1);
  Stretch& stretch = stretches_[place];
  stretch.least = stretch.count == 0 ? least : std::min(stretch.least, least);
  stretch.most = stretch.count == 0 ? most : std::max(stretch.most, most);
  stretch.sum += value;
  ++stretch.count;
}

double DeviceUse::Percentile(double share) const {
  if (count_ == 0 || values_.empty()) return 0;
  const std::size_t rank = NearestRank(share, static_cast<std::size_t>(count_));
  std::size_t below = 0, bin = 0;
  while (bin + 1 < values_.size() && below + values_[bin] <= rank) below += values_[bin++];
  return std::clamp(static_cast<double>(bin) / kPerPercent, least_, most_);
}

std::vector<std::uint64_t> DeviceUse::Spread(std::size_t parts) const {
  std::vector<std::uint64_t> counts(parts);
  for (std::size_t bin = 0; bin < values_.size(); ++bin) {
    counts[std::min(bin * parts / (values_.size() - 1), parts - 1)] += values_[bin];
  }
  return counts;
}

std::vector<DeviceUse::Point> DeviceUse::Line() const {
  std::vector<Point> line;
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    const Stretch& stretch = stretches_[i];
    if (stretch.count == 0) continue;
    line.push_back({from_us_ + static_cast<std::int64_t>(i) * width_us_,
                    stretch.sum / static_cast<double>(stretch.count), stretch.least, stretch.most});
  }
  return line;
}

// Two intervals of the job, or twice the pace of a source that agents read less often.
std::int64_t DeviceUse::LeastGapUs(std::int64_t interval_us) const {
  constexpr std::int64_t kLongestPace = 60'000'000;
  return width_us_ + 2 * std::max(interval_us, std::min(shortest_us_, kLongestPace));
}

void DeviceUses::Begin(std::int64_t from_us, std::int64_t to_us, std::int64_t interval_us) {
  uses_.clear();
  from_us_ = from_us;
  interval_us_ = std::max<std::int64_t>(interval_us, 1);
  width_us_ = std::max((to_us - from_us) / kPoints + 1, 2 * interval_us_);
}

DeviceUse& DeviceUses::Of(const std::string& node, const std::string& metric,
                          const std::string& device) {
  const Metric* known = FindMetric(metric);
  return uses_
      .try_emplace({metric, node, device}, from_us_, width_us_,
                   known != nullptr && known->unit == "%")
      .first->second;
}

}  // namespace stepscope
