#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/table.h"

namespace stepscope {

// The values of one tick. Columns are only ever added, so a collector can keep the numbers of its
// columns.
class TickRow {
 public:
  static constexpr std::size_t kNoColumn = SIZE_MAX;

  // Adds the column of a new series of a metric of core/model/metric.h. kNoColumn when no more fit
  // into a frame: setting that one does nothing.
  std::size_t Add(std::string_view metric, std::string_view device = "");

  // Adds the column of a custom metric, with so many decimal digits.
  std::size_t AddCustom(std::string_view metric, std::uint8_t scale, std::string_view device = "");

  void Set(std::size_t column, double value);

  // Copies the value of column `there` of `from`, a column of the same metric.
  void Copy(std::size_t column, const TickRow& from, std::size_t there);

  // Makes every value missing.
  void Clear();

  const std::vector<SeriesName>& series() const { return series_; }
  std::size_t size() const { return series_.size(); }
  std::uint8_t scale(std::size_t column) const { return scales_[column]; }
  bool Has(std::size_t column) const { return present_[column] != 0; }
  std::int64_t scaled(std::size_t column) const { return values_[column]; }

  // The value of a series; NaN when it is missing or there is no such series.
  double At(std::string_view metric, std::string_view device = "") const;

 private:
  std::size_t Append(std::string_view metric, std::uint8_t scale, std::string_view device);

  std::vector<SeriesName> series_;
  std::vector<std::uint8_t> scales_;
  std::vector<std::int64_t> values_;
  std::vector<std::uint8_t> present_;
};

}  // namespace stepscope
