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

// Series of one node over common times: what frames and blocks hold, and what readers get.
struct TickTable {
  std::vector<std::int64_t> at_us;  // ascending, each once
  std::vector<SeriesName> series;   // sorted
  std::vector<Column> columns;      // one for each series; missing where the node did not have it
  bool complete = true;             // of a reader's answer: nothing more lies in the range
};

struct TickFilter {
  std::vector<std::string> metrics;  // empty = all
  std::optional<std::string> device;

  bool Wants(const SeriesName& series) const;
  bool operator==(const TickFilter&) const = default;
};

// Bounds of a stored table. A frame keeps those of TableLimits.
inline constexpr TableLimits kBlockLimits{
    .rows = 1024 * 1024, .columns = 20'001, .cells = 16 * 1024 * 1024};

// How many values, times among them, a reader decodes at once where it can read a part by itself:
// 9 bytes each, and as much again while tables become one.
inline constexpr std::size_t kValuesAtOnce = 4'000'000;

// How many a reader may still decode: all of a node with very many series are a gigabyte an hour.
class ValueBudget {
 public:
  explicit ValueBudget(std::size_t most) : left_(most) {}
  // Before so many are decoded. Invalid when that were too much.
  Status Spend(std::size_t values);

 private:
  std::size_t left_;
};

// The times of an encoded table and the series of it that are wanted, in the order of the schema.
// Without a budget they may be as many as there are.
Result<TickTable> DecodeTicks(std::string_view payload, const Schema& schema,
                              const TickFilter& filter, ValueBudget* budget = nullptr);
Result<TickTable> DecodeTicks(const TableReader& reader, const Schema& schema,
                              const TickFilter& filter, ValueBudget* budget = nullptr);

// A table as it is stored, with what its columns are.
struct EncodedTable {
  std::int64_t schema_hash = 0;
  std::string schema, payload;
};
EncodedTable EncodeTicks(const TickTable& table);

// The largest scale up to `wanted` at which the values of a scale still fit.
std::uint8_t ScaleThatFits(const std::vector<std::int64_t>& values, std::uint8_t scale,
                           std::uint8_t wanted);

// The rows [from, to) of the series [first, last), without rows in which none of them has a value.
TickTable SliceTicks(const TickTable& table, std::size_t first, std::size_t last, std::size_t from,
                     std::size_t to);

}  // namespace stepscope
