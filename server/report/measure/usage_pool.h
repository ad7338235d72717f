#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/report/measure/usage_table.h"

namespace stepscope {

// What was measured of one metric of one node, on its way to a row of the table of usage.
class UsagePool {
 public:
  void BeginDevice() { ++devices_; }
  // A value of a device at a time; the ends of what it stands for, where it is a mean.
  void Add(std::int64_t at_us, double value, double least, double most) {
    least_ = values_.empty() ? least : std::min(least_, least);
    most_ = values_.empty() ? most : std::max(most_, most);
    values_.emplace_back(at_us, value);
  }
  std::size_t size() const { return values_.size(); }

  // Nothing when nothing was measured.
  std::optional<UsageRow> Row(const std::string& node, const std::string& metric) &&;

 private:
  using TimedValue = std::pair<std::int64_t, double>;  // at_us, value
  void AddUpDevices();

  int devices_ = 0;
  std::vector<TimedValue> values_;
  double least_ = 0, most_ = 0;
};

}  // namespace stepscope
