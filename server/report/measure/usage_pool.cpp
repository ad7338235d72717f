#include "server/report/measure/usage_pool.h"

#include "core/model/metric.h"
#include "server/report/measure/sliding.h"

namespace stepscope {
namespace {

// Percentages of several devices stay several values; rates of several devices are added to one.
bool AddsUp(const std::string& name) {
  const Metric* metric = FindMetric(name);
  return metric && metric->unit == "bytes/s";
}

}  // namespace

// Least and greatest value of a sum are those of the sums alone. Values come in runs, of one device
// each and in the order of time, so that merging the runs sorts little.
void UsagePool::AddUpDevices() {
  std::vector<TimedValue> sums, rest;
  for (auto from = values_.begin(); from != values_.end();) {
    const auto to = std::ranges::is_sorted_until(from, values_.end(), {}, &TimedValue::first);
    const auto tail = std::ranges::lower_bound(sums, from->first, {}, &TimedValue::first);
    rest.assign(tail, sums.end());
    sums.erase(tail, sums.end());
    for (auto known = rest.begin(); from != to || known != rest.end();) {
      const bool next = known == rest.end() || (from != to && from->first < known->first);
      const TimedValue& value = next ? *from++ : *known++;
      const bool same = !sums.empty() && sums.back().first == value.first;
      same ? void(sums.back().second += value.second) : sums.push_back(value);
    }
  }
  values_ = std::move(sums);
  const auto [least, most] = std::ranges::minmax(values_, {}, &TimedValue::second);
  least_ = least.second;
  most_ = most.second;
}

std::optional<UsageRow> UsagePool::Row(const std::string& node, const std::string& metric) && {
  if (values_.empty()) return std::nullopt;
  if (devices_ > 1 && AddsUp(metric)) AddUpDevices();
  std::vector<double> values;
  values.reserve(values_.size());
  for (const auto& [at_us, value] : values_) values.push_back(value);
  // Goes from the least share to the greatest: a greater one lies behind the place of the last, in
  // a part that becomes shorter each time. Sorting all values would take longer than everything
  // else here.
  auto begin = values.begin();
  const auto next = [&](double share) {
    const auto place =
        values.begin() + static_cast<std::ptrdiff_t>(NearestRank(share, values.size()));
    std::nth_element(begin, place, values.end());
    begin = place;
    return *place;
  };
  UsageRow row{.node = node, .metric = metric, .count = values.size(), .max = most_};
  row.p50 = next(0.50);
  row.p90 = next(0.90);
  row.p95 = next(0.95);
  row.p99 = next(0.99);
  row.min = least_;
  return row;
}

}  // namespace stepscope
