#include "server/store/ticks/tick_table.h"

#include <algorithm>

#include "core/wire/frame.h"

namespace stepscope {

bool TickFilter::Wants(const SeriesName& series) const {
  if (device && series.device != *device) return false;
  return metrics.empty() || std::ranges::count(metrics, series.metric) > 0;
}

Status ValueBudget::Spend(std::size_t values) {
  if (values > left_) {
    return Invalid("more values than are read at once; choose fewer metrics, or one device");
  }
  left_ -= values;
  return {};
}

Result<TickTable> DecodeTicks(std::string_view payload, const Schema& schema,
                              const TickFilter& filter, ValueBudget* budget) {
  const Result<TableReader> reader = TableReader::Open(payload, kBlockLimits);
  if (!reader) return reader.error();
  return DecodeTicks(*reader, schema, filter, budget);
}

Result<TickTable> DecodeTicks(const TableReader& reader, const Schema& schema,
                              const TickFilter& filter, ValueBudget* budget) {
  if (reader.columns() != schema.columns.size() || schema.columns.empty()) {
    return Internal("ticks: not as their schema says");
  }
  const auto spend = [&] { return budget ? budget->Spend(reader.rows()) : Status(); };
  if (Status spent = spend(); !spent) return spent.error();
  Result<Column> times = reader.Read(0);
  if (!times) return times.error();
  TickTable table{std::move(times->values), {}, {}};
  for (std::size_t i = 1; i < schema.columns.size(); ++i) {
    if (!filter.Wants(schema.columns[i])) continue;
    if (Status spent = spend(); !spent) return spent.error();
    Result<Column> column = reader.Read(i);
    if (!column) return column.error();
    table.series.push_back(schema.columns[i]);
    table.columns.push_back(std::move(*column));
  }
  return table;
}

EncodedTable EncodeTicks(const TickTable& table) {
  Schema schema{.rank = -1, .columns = {{"at_us", ""}}, .names = {}};
  Table encoded{.rows = table.at_us.size(), .columns = {}};
  encoded.columns.push_back({.scale = 0, .values = table.at_us, .present = {}});
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    schema.columns.push_back(table.series[i]);
    encoded.columns.push_back(table.columns[i]);
  }
  return {static_cast<std::int64_t>(HashSchema(schema)), EncodeSchema(schema),
          EncodeTable(encoded)};
}

TickTable SliceTicks(const TickTable& table, std::size_t first, std::size_t last, std::size_t from,
                     std::size_t to) {
  TickTable slice;
  std::vector<std::size_t> rows;
  for (std::size_t row = from; row < to; ++row) {
    bool some = first == last;
    for (std::size_t i = first; i < last && !some; ++i) some = table.columns[i].Has(row);
    if (some) rows.push_back(row);
  }
  for (const std::size_t row : rows) slice.at_us.push_back(table.at_us[row]);
  for (std::size_t i = first; i < last; ++i) {
    const Column& column = table.columns[i];
    Column part{.scale = column.scale, .values = {}, .present = {}};
    for (const std::size_t row : rows) part.values.push_back(column.values[row]);
    if (!column.present.empty()) {
      for (const std::size_t row : rows) part.present.push_back(column.present[row]);
    }
    if (std::ranges::count(part.present, 0) == 0) part.present.clear();
    if (!rows.empty() && part.present.size() == rows.size() &&
        std::ranges::count(part.present, 1) == 0) {
      continue;  // a device without values has no series
    }
    slice.series.push_back(table.series[i]);
    slice.columns.push_back(std::move(part));
  }
  return slice;
}

std::uint8_t ScaleThatFits(const std::vector<std::int64_t>& values, std::uint8_t scale,
                           std::uint8_t wanted) {
  if (values.empty() || wanted <= scale) return wanted;
  const auto [least, greatest] = std::ranges::minmax(values);
  const auto fits = [&](std::uint8_t to) {
    const std::int64_t factor = PowerOfTen(static_cast<std::uint8_t>(to - scale));
    return least >= INT64_MIN / factor && greatest <= INT64_MAX / factor;
  };
  while (wanted > scale && !fits(wanted)) --wanted;
  return wanted;
}

}  // namespace stepscope
