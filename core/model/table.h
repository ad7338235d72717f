#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stepscope {

// One column of a table: integers with a decimal scale, so that 41.27 is 4127 at scale 2. A missing
// value is missing: never 0 and never NaN.
struct Column {
  std::uint8_t scale = 0;
  std::vector<std::int64_t> values;   // one for each row; 0 where missing
  std::vector<std::uint8_t> present;  // 1 or 0 for each row; empty when no value is missing

  bool Has(std::size_t row) const { return present.empty() || present[row] != 0; }
  double At(std::size_t row) const;  // the value with its scale applied
};

// Samples, steps and statistics are all tables of integer columns; see Schema for what the columns
// are.
struct Table {
  std::size_t rows = 0;
  std::vector<Column> columns;
};

// A series: one metric of one device of a node. `device` is empty for the node as a whole.
struct SeriesName {
  std::string metric;
  std::string device;

  auto operator<=>(const SeriesName&) const = default;
};

// The columns of a table. Sent once in each session and known by its hash afterwards.
//   ticks:       "at_us", then a series for each column
//   steps:       "step", "start_us", "wall_ns", then times by name in nanoseconds
//   (core/model/step.h) annotations: "name" (index into `names`), "from_us", "to_us", "count",
//   "sum_ns", "min_ns",
//                "max_ns"
struct Schema {
  std::int32_t rank = -1;  // of steps and annotations; else -1
  std::vector<SeriesName> columns;
  std::vector<std::string> names;  // dictionary of the strings that columns refer to

  bool operator==(const Schema&) const = default;
};

// 10^scale for scales 0 to 18.
std::int64_t PowerOfTen(std::uint8_t scale);

// Converts a value to another scale, rounding towards zero and clamping to int64.
std::int64_t Rescaled(std::int64_t value, std::uint8_t from, std::uint8_t to);

// The integer nearest to value x 10^scale, clamped to int64; collectors store it in a column.
std::int64_t ToScaled(double value, std::uint8_t scale);

}  // namespace stepscope
