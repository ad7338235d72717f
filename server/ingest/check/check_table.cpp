// Everything about a table that the database would swallow and a reader choke on.

#include "server/ingest/check/check_table.h"

#include <algorithm>
#include <set>

#include "core/base/text.h"
#include "core/model/metric.h"
#include "core/model/names.h"
#include "core/model/span_table.h"
#include "core/model/step.h"
#include "core/wire/table_codec.h"
#include "server/ingest/check/block_capacity.h"
#include "server/store/jobs/jobs.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLargestTableRank = kMostJobRanks - 1;
constexpr std::uint8_t kLargestScale = 9;
constexpr std::size_t kLongestMetric = 63;
constexpr std::int64_t kLargestAmount = std::int64_t{1} << 55;  // more than a year of nanoseconds
constexpr char kWildAmount[] = "a number or duration below 0 or above 2^55";
constexpr std::string_view kStepColumns[] = {"step", "start_us", "wall_ns"};
constexpr std::string_view kAnnotationColumns[] = {"name",   "from_us", "to_us", "count",
                                                   "sum_ns", "min_ns",  "max_ns"};

TableFault BadSchema(std::string detail) {
  return {"bad-schema", std::move(detail)};
}
TableFault BadTable(std::string detail) {
  return {"bad-table", std::move(detail)};
}

bool BeginsWith(const Schema& schema, std::span<const std::string_view> names) {
  if (schema.columns.size() < names.size()) return false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (schema.columns[i] != SeriesName{std::string(names[i]), ""}) return false;
  }
  return true;
}

std::optional<TableFault> CheckDevice(const SeriesName& series) {
  if (series.device.empty()) return std::nullopt;
  const Status device = CheckLabel("device", series.device);
  return device ? std::nullopt : std::optional(BadSchema(device.error().message));
}

bool MayBeMetric(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !name.empty() && name.size() <= kLongestMetric && std::ranges::all_of(name, fits);
}

// An agent may be newer than this service: a metric that is not known yet is kept for a service
// that knows it.
std::optional<TableFault> CheckAgentSeries(const SeriesName& series) {
  return MayBeMetric(series.metric) ? CheckDevice(series) : CheckSeries(series);
}

constexpr char kNoNames[] = "only annotations and spans have names";

std::optional<TableFault> CheckTickSchema(const Schema& schema) {
  constexpr std::string_view kFirst[] = {"at_us"};
  if (!BeginsWith(schema, kFirst) || schema.rank != -1) return BadSchema("not of ticks");
  if (!schema.names.empty()) return BadSchema(kNoNames);
  for (std::size_t i = 1; i < schema.columns.size(); ++i) {
    if (auto fault = CheckAgentSeries(schema.columns[i])) return fault;
  }
  return std::nullopt;
}

// Whether the schema has these columns, and no more.
std::optional<TableFault> CheckColumns(FrameKind kind, std::span<const std::string_view> names,
                                       const Schema& schema) {
  if (BeginsWith(schema, names) && schema.columns.size() == names.size()) return std::nullopt;
  return BadSchema(Format("not of {}", ToText(kind)));
}

std::optional<TableFault> CheckRankSchema(FrameKind kind, const Schema& schema) {
  if (schema.rank < 0 || schema.rank > kLargestTableRank) {
    return BadSchema(Format("rank {} is not between 0 and {}", schema.rank, kLargestTableRank));
  }
  if (kind == FrameKind::kAnnotations) return CheckColumns(kind, kAnnotationColumns, schema);
  if (kind == FrameKind::kSpans) return CheckColumns(kind, kSpanColumns, schema);
  if (!BeginsWith(schema, kStepColumns)) return BadSchema("not of steps");
  if (!schema.names.empty()) return BadSchema(kNoNames);
  for (std::size_t i = std::size(kStepColumns); i < schema.columns.size(); ++i) {
    if (ParseStepTime(schema.columns[i].metric) && schema.columns[i].device.empty()) continue;
    return BadSchema(Format("phase '{}' is not known", Printable(schema.columns[i].metric)));
  }
  return std::nullopt;
}

bool IsWhole(const Column& column) {
  return column.scale == 0 && column.present.empty();
}

bool AreSane(const Column& times) {
  return std::ranges::all_of(times.values, IsSaneTime);
}

// Numbers and durations of steps and statistics: readers add them up.
bool IsSaneAmount(std::int64_t value) {
  return value >= 0 && value <= kLargestAmount;
}
bool HasWildAmounts(const Column& column) {
  return !std::ranges::all_of(column.values, IsSaneAmount);
}

TableFault BadTime(std::string detail) {
  return {"bad-time", std::move(detail)};
}

std::optional<TableFault> ReadColumn(const TableReader& table, std::size_t column, Column& into) {
  if (Status read = table.Read(column, into); !read) return BadTable(read.error().message);
  if (into.scale <= kLargestScale) return std::nullopt;
  return BadTable(Format("a scale above {}", kLargestScale));
}

// The columns of close ticks are read again: their room depends on which of them have values when.
std::optional<TableFault> CheckDensity(const Schema& schema, const TableReader& table,
                                       const std::vector<std::int64_t>& at_us) {
  if (AreFarApart(at_us, schema.columns.size())) return std::nullopt;
  BlockCapacity density(at_us);
  Column values;
  for (std::size_t i = 1; i < table.columns(); ++i) {
    if (auto fault = ReadColumn(table, i, values)) return fault;
    density.Add(schema.columns[i].metric, values.present);
  }
  const std::optional<BlockCapacity::Fault> fault = density.Find();
  if (!fault) return std::nullopt;
  return BadTable((fault->metric.empty() ? "at_us" : fault->metric) + ": " + fault->detail);
}

// Values of ticks may be any that can be read.
std::optional<TableFault> CheckTicks(const Schema& schema, const TableReader& table,
                                     TableFrame& frame) {
  if (table.rows() > kMaxRowsPerFrame)
    return BadTable(Format("{} ticks, at most {} are allowed", table.rows(), kMaxRowsPerFrame));
  Column times, values;
  if (auto fault = ReadColumn(table, 0, times)) return fault;
  for (std::size_t i = 1; i < table.columns(); ++i) {
    if (auto fault = ReadColumn(table, i, values)) return fault;
  }
  if (!IsWhole(times)) return BadTable("at_us: values are missing");
  if (!AreSane(times)) return BadTime("at_us: outside the years 2000 to 2099");
  if (std::ranges::adjacent_find(times.values, std::ranges::greater_equal()) !=
      times.values.end()) {
    return BadTime("at_us: not ascending");
  }
  frame.from_us = times.values.front();
  frame.to_us = times.values.back();
  return CheckDensity(schema, table, times.values);
}

std::optional<TableFault> CheckSteps(const Table& table, TableFrame& frame) {
  for (std::size_t i = 0; i < std::size(kStepColumns); ++i) {
    if (!IsWhole(table.columns[i]))
      return BadTable(Format("{}: values are missing", kStepColumns[i]));
  }
  const Column& starts = table.columns[1];
  if (!AreSane(starts)) return BadTime("start_us: outside the years 2000 to 2099");
  if (std::ranges::any_of(table.columns, HasWildAmounts)) return BadTable(kWildAmount);
  for (const Column& column : table.columns) {
    if (column.scale != 0) return BadTable("a duration with a scale");
  }
  // Steps may be in any order: the wall clock may have been set back between two steps.
  frame.from_us = std::ranges::min(starts.values);
  frame.to_us = std::ranges::max(starts.values);
  return std::nullopt;
}

std::optional<TableFault> CheckAnnotations(const Schema& schema, const Table& table,
                                           TableFrame& frame) {
  if (!std::ranges::all_of(table.columns, IsWhole)) return BadTable("values are missing");
  if (std::ranges::any_of(table.columns, HasWildAmounts)) return BadTable(kWildAmount);
  const Column &names = table.columns[0], &from = table.columns[1], &to = table.columns[2];
  for (std::size_t row = 0; row < table.rows; ++row) {
    if (static_cast<std::size_t>(names.values[row]) >= schema.names.size()) {
      return BadTable("name: not in the schema");
    }
    if (from.values[row] > to.values[row]) return BadTime("from_us: behind to_us");
  }
  if (!AreSane(from) || !AreSane(to)) return BadTime("from_us: outside the years 2000 to 2099");
  frame.from_us = std::ranges::min(from.values);
  frame.to_us = std::ranges::max(to.values);
  return std::nullopt;
}

// Spans are of one window; their starts are times in nanoseconds, all other columns amounts.
std::optional<TableFault> CheckSpans(const Schema& schema, const Table& table, TableFrame& frame) {
  if (!std::ranges::all_of(table.columns, IsWhole)) return BadTable("values are missing");
  const auto values = [&](SpanColumn column) -> const std::vector<std::int64_t>& {
    return table.columns[static_cast<std::size_t>(column)].values;
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (static_cast<SpanColumn>(i) == SpanColumn::kStartNs) continue;
    if (HasWildAmounts(table.columns[i])) return BadTable(kWildAmount);
  }
  const auto &windows = values(SpanColumn::kWindow), &steps = values(SpanColumn::kStep);
  const auto &starts = values(SpanColumn::kStartNs), &lengths = values(SpanColumn::kDurationNs);
  if (std::ranges::max(values(SpanColumn::kName)) >=
      static_cast<std::int64_t>(schema.names.size())) {
    return BadTable("name: not in the schema");
  }
  if (std::ranges::min(windows) != std::ranges::max(windows)) return BadTable("of several windows");
  frame.from_us = INT64_MAX;
  for (std::size_t row = 0; row < table.rows; ++row) {
    const std::int64_t from_us = starts[row] / 1'000;
    if (!IsSaneTime(from_us)) return BadTime("start_ns: outside the years 2000 to 2099");
    frame.from_us = std::min(frame.from_us, from_us);
    frame.to_us = std::max(frame.to_us, from_us + lengths[row] / 1'000);
  }
  frame.window_id = windows.front();
  frame.first_step = std::ranges::min(steps);
  frame.last_step = std::ranges::max(steps);
  return std::nullopt;
}

}  // namespace

std::optional<TableFault> CheckSeries(const SeriesName& series) {
  if (!FindMetric(series.metric) && !IsCustomMetric(series.metric)) {
    return TableFault{"unknown-metric", Format("metric '{}' is not known; custom metrics are named "
                                               "user.*",
                                               Printable(series.metric))};
  }
  return CheckDevice(series);
}

std::optional<TableFault> CheckSchema(FrameKind kind, const Schema& schema) {
  std::set<SeriesName> seen;
  for (const SeriesName& column : schema.columns) {
    if (!seen.insert(column).second) {
      return BadSchema(Format("column '{}' stands twice", Printable(column.metric)));
    }
  }
  return kind == FrameKind::kTicks ? CheckTickSchema(schema) : CheckRankSchema(kind, schema);
}

std::optional<TableFault> CheckKind(FrameKind kind, const Schema& schema) {
  const std::string_view first = kind == FrameKind::kTicks   ? "at_us"
                                 : kind == FrameKind::kSteps ? kStepColumns[0]
                                 : kind == FrameKind::kSpans ? kSpanColumns[0]
                                                             : kAnnotationColumns[0];
  if (!schema.columns.empty() && schema.columns[0].metric == first) return std::nullopt;
  return BadSchema(Format("not of {}", ToText(kind)));
}

std::optional<TableFault> CheckTable(const Schema& schema, TableFrame& frame) {
  TableLimits limits;
  limits.rows = kMaxStepsPerFrame;
  const Result<TableReader> reader = TableReader::Open(frame.payload, limits);
  if (!reader) return BadTable(reader.error().message);
  if (reader->rows() == 0) return BadTable("no rows");
  if (reader->columns() != schema.columns.size()) {
    return BadTable(
        Format("{} columns, the schema has {}", reader->columns(), schema.columns.size()));
  }
  frame.rows = reader->rows();
  frame.samples = frame.rows * (schema.columns.size() - 1);
  frame.rank = schema.rank;
  if (frame.kind == FrameKind::kTicks) return CheckTicks(schema, *reader, frame);
  Table table{reader->rows(), std::vector<Column>(reader->columns())};
  for (std::size_t i = 0; i < reader->columns(); ++i) {
    if (auto fault = ReadColumn(*reader, i, table.columns[i])) return fault;
  }
  if (frame.kind == FrameKind::kSteps) return CheckSteps(table, frame);
  if (frame.kind == FrameKind::kSpans) return CheckSpans(schema, table, frame);
  return CheckAnnotations(schema, table, frame);
}

}  // namespace stepscope
