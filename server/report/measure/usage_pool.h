#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/report/measure/usage_table.h"

namespace stepscope {

// Collects the values of one metric of one node for a row of the table of usage.
class UsagePool {
 public:
  void BeginDevice() { ++devices_; }
  // Adds a value of a device at a time; for a mean, with the least and greatest value that it
  // covers.
  void Add(std::int64_t at_us, double value, double least, double most) {
    least_ = values_.empty() ? least : std::min(least_, least);
    most_ = values_.empty() ? most : std::max(most_, most);
    values_.emplace_back(at_us, value);
  }
  std::size_t size() const { return values_.size(); }

  // The row; nothing when nothing was measured.
  std::optional<UsageRow> Row(const std::string& node, const std::string& metric) &&;

 private:
  using TimedValue = std::pair<std::int64_t, double>;  // at_us, value
  void AddUpDevices();

  int devices_ = 0;
  std::vector<TimedValue> values_;
  double least_ = 0, most_ = 0;
};

}  // namespace stepscope
