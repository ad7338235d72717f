#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/table.h"
#include "core/wire/table_codec.h"

namespace stepscope {

// Series of one node over common times, as frames, blocks and readers have them.
struct TickTable {
  std::vector<std::int64_t> at_us;  // ascending, each once
  std::vector<SeriesName> series;   // sorted
  std::vector<Column> columns;  // one for each series; values are missing where the node had none
  bool complete = true;         // in a reader's answer: nothing more is in the range
};

struct TickFilter {
  std::vector<std::string> metrics;  // empty = all
  std::optional<std::string> device;

  bool Wants(const SeriesName& series) const;
  bool operator==(const TickFilter&) const = default;
};

// The bounds of a stored table. Frames have those of TableLimits.
inline constexpr TableLimits kBlockLimits{
    .rows = 1024 * 1024, .columns = 20'001, .cells = 16 * 1024 * 1024};

// The number of values, times included, that a reader decodes at once where it can read in parts: 9
// bytes each, and as much again while tables are joined.
inline constexpr std::size_t kValuesAtOnce = 4'000'000;

// The number of values that a reader may still decode: all series of a large node are a gigabyte an
// hour.
class ValueBudget {
 public:
  explicit ValueBudget(std::size_t most) : left_(most) {}
  // Called before so many are decoded. Invalid when they are too many.
  Status Spend(std::size_t values);

 private:
  std::size_t left_;
};

// Decodes the times of a table and the wanted series, in the order of the schema. Without a budget
// their number is not limited.
Result<TickTable> DecodeTicks(std::string_view payload, const Schema& schema,
                              const TickFilter& filter, ValueBudget* budget = nullptr);
Result<TickTable> DecodeTicks(const TableReader& reader, const Schema& schema,
                              const TickFilter& filter, ValueBudget* budget = nullptr);

// A table as it is stored, with the schema of its columns.
struct EncodedTable {
  std::int64_t schema_hash = 0;
  std::string schema, payload;
};
EncodedTable EncodeTicks(const TickTable& table);

// The largest scale up to `wanted` at which the values still fit.
std::uint8_t ScaleThatFits(const std::vector<std::int64_t>& values, std::uint8_t scale,
                           std::uint8_t wanted);

// The rows [from, to) of the series [first, last), without rows in which none of them has a value.
TickTable SliceTicks(const TickTable& table, std::size_t first, std::size_t last, std::size_t from,
                     std::size_t to);

}  // namespace stepscope
