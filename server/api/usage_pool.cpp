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
  std::ranges::sort(values_, {}, &std::pair<std::int64_t, double>::second);
  const auto at = [&](double share) { return values_[NearestRank(share, values_.size())].second; };
  return UsageRow{node,     metric,   values_.size(), most_, at(0.99),
                  at(0.95), at(0.90), at(0.50),       least_};
}

}  // namespace stepscope
