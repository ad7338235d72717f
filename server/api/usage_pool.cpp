#include "server/api/usage_pool.h"

#include "core/model/metric.h"
#include "server/api/sliding.h"

namespace stepscope {
namespace {

// Percentages of several devices are so many values; rates of several are one, their sum.
bool AddsUp(const std::string& name) {
  const Metric* metric = FindMetric(name);
  return metric && metric->unit == "bytes/s";
}

}  // namespace

// The ends of a sum are known of the sums alone.
void UsagePool::AddUpDevices() {
  std::ranges::sort(values_, {}, &std::pair<std::int64_t, double>::first);
  std::size_t last = 0;
  for (std::size_t i = 1; i < values_.size(); ++i) {
    if (values_[i].first == values_[last].first) {
      values_[last].second += values_[i].second;
    } else {
      values_[++last] = values_[i];
    }
  }
  values_.resize(last + 1);
  const auto [least, most] =
      std::ranges::minmax(values_, {}, &std::pair<std::int64_t, double>::second);
  least_ = least.second;
  most_ = most.second;
}

std::optional<UsageRow> UsagePool::Row(const std::string& node, const std::string& metric) && {
  if (values_.empty()) return std::nullopt;
  if (devices_ > 1 && AddsUp(metric)) AddUpDevices();
  std::vector<double> values;
  values.reserve(values_.size());
  for (const auto& [at_us, value] : values_) values.push_back(value);
  // From the greatest share on: what a lower one needs stands before the place of the last. Sorting
  // all would take longer than everything else here.
  auto end = values.end();
  const auto next = [&](double share) {
    const auto place =
        values.begin() + static_cast<std::ptrdiff_t>(NearestRank(share, values.size()));
    std::nth_element(values.begin(), place, end);
    end = place;
    return *place;
  };
  UsageRow row{.node = node, .metric = metric, .count = values.size(), .max = most_};
  row.p99 = next(0.99);
  row.p95 = next(0.95);
  row.p90 = next(0.90);
  row.p50 = next(0.50);
  row.min = least_;
  return row;
}

}  // namespace stepscope
