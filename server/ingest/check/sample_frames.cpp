#include "server/ingest/check/sample_frames.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/wire/table_codec.h"
#include "server/ingest/check/decimals.h"

namespace stepscope {
namespace {

// A frame of so many cells is within kMaxFrameBytes however badly it packs.
constexpr std::size_t kMostCells = kMaxFrameBytes / sizeof(std::int64_t);

// The rows to store: places in the body, by time; `begins` says where each instant begins, and
// ends with their number.
struct OrderedRows {
  std::vector<std::uint32_t> places, begins;
};

OrderedRows OrderRows(const Samples& samples) {
  const auto is_empty = [&](std::uint32_t place) {
    return std::ranges::none_of(samples.series,
                                [&](const auto& series) { return series.present[place] != 0; });
  };
  const auto time_of = [&](std::uint32_t place) { return samples.times_us[place]; };
  OrderedRows rows;
  rows.places.resize(samples.times_us.size());
  std::iota(rows.places.begin(), rows.places.end(), 0U);
  std::erase_if(rows.places, is_empty);
  std::ranges::stable_sort(rows.places, {}, time_of);
  for (std::uint32_t i = 0; i < rows.places.size(); ++i) {
    if (i == 0 || time_of(rows.places[i]) != time_of(rows.places[i - 1])) rows.begins.push_back(i);
  }
  rows.begins.push_back(static_cast<std::uint32_t>(rows.places.size()));
  return rows;
}

std::uint8_t ScaleOf(const Samples::Series& series) {
  double largest = 0;
  for (const double value : series.values) largest = std::max(largest, std::fabs(value));
  return ChooseScale(series.decimals, largest);
}

// Rows [from, to) of one series.
Column ToColumn(const Samples::Series& series, std::uint8_t scale, const OrderedRows& rows,
                std::size_t from, std::size_t to) {
  Column column{scale, {}, {}};
  column.values.reserve(to - from);
  column.present.reserve(to - from);
  for (std::size_t row = from; row < to; ++row) {
    const auto* const begin = rows.places.data() + rows.begins[row];
    const auto* const end = rows.places.data() + rows.begins[row + 1];
    const auto* const first =
        std::find_if(begin, end, [&](std::uint32_t place) { return series.present[place] != 0; });
    column.values.push_back(first == end ? 0 : ToScaled(series.values[*first], scale));
    column.present.push_back(first == end ? 0 : 1);
  }
  return column;
}

// Series are in the order of their names, so that equal ones are always one schema.
struct Cut {
  const Samples& samples;
  OrderedRows rows;
  std::vector<const Samples::Series*> series;
  std::vector<std::uint8_t> scales;
};

Cut Prepare(const Samples& samples) {
  Cut cut{samples, OrderRows(samples), {}, {}};
  for (const Samples::Series& series : samples.series) cut.series.push_back(&series);
  std::ranges::sort(
      cut.series, {}, [](const auto* series) -> const auto& { return series->name; });
  for (const auto* series : cut.series) cut.scales.push_back(ScaleOf(*series));
  return cut;
}

TableFrame WithSchema(const Cut& cut) {
  Schema schema{-1, {{"at_us", ""}}, {}};
  for (const auto* series : cut.series) schema.columns.push_back(series->name);
  TableFrame frame;
  frame.schema_hash = HashSchema(schema);
  frame.schema = std::make_shared<const std::string>(EncodeSchema(schema));
  return frame;
}

// Rows [from, to) of all series.
void Fill(const Cut& cut, std::size_t from, std::size_t to, TableFrame& frame) {
  Table table{to - from, {Column()}};
  for (std::size_t row = from; row < to; ++row) {
    const std::uint32_t place = cut.rows.places[cut.rows.begins[row]];
    table.columns[0].values.push_back(cut.samples.times_us[place]);
  }
  for (std::size_t i = 0; i < cut.series.size(); ++i) {
    Column column = ToColumn(*cut.series[i], cut.scales[i], cut.rows, from, to);
    const auto present = static_cast<std::size_t>(std::ranges::count(column.present, 1));
    if (present == table.rows) column.present.clear();
    frame.samples += present;
    table.columns.push_back(std::move(column));
  }
  frame.rows = table.rows;
  frame.from_us = table.columns[0].values.front();
  frame.to_us = table.columns[0].values.back();
  frame.payload = EncodeTable(table);
}

}  // namespace

std::vector<CheckedFrame> ToFrames(const Samples& samples) {
  const Cut cut = Prepare(samples);
  const TableFrame common = WithSchema(cut);
  const std::size_t most_rows =
      std::clamp<std::size_t>(kMostCells / (cut.series.size() + 1), 1, kMaxRowsPerFrame);
  const std::size_t instants = cut.rows.begins.size() - 1;
  std::vector<CheckedFrame> frames;
  for (std::size_t from = 0; from < instants; from += most_rows) {
    TableFrame frame = common;
    Fill(cut, from, std::min(from + most_rows, instants), frame);
    frames.push_back({0, 0, std::move(frame)});
  }
  return frames;
}

}  // namespace stepscope
