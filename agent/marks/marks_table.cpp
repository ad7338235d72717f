#include "agent/marks/marks_table.h"

#include <utility>

namespace stepscope {
namespace {

MarksTable EmptyTable(std::int32_t rank, std::initializer_list<std::string_view> columns) {
  MarksTable marks;
  marks.schema.rank = rank;
  for (const std::string_view name : columns)
    marks.schema.columns.push_back({std::string(name), ""});
  return marks;
}

// Adds a column with value(row) for each row.
template <typename Row, typename F>
void AddColumn(Table& table, std::span<const Row> rows, F&& value) {
  Column column;
  column.values.reserve(rows.size());
  for (const Row& row : rows) column.values.push_back(value(row));
  table.columns.push_back(std::move(column));
}

}  // namespace

MarksTable StepsTable(std::int32_t rank, std::span<const Step> steps) {
  MarksTable marks = EmptyTable(rank, {"step", "start_us", "wall_ns"});
  marks.table.rows = steps.size();
  AddColumn(marks.table, steps, [](const Step& step) { return step.number; });
  AddColumn(marks.table, steps, [](const Step& step) { return ToMicros(step.start); });
  AddColumn(marks.table, steps, [](const Step& step) { return step.wall.count(); });
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    marks.schema.columns.push_back({std::string(ToText(phase)), ""});
    AddColumn(marks.table, steps, [phase](const Step& step) { return step.phase(phase).count(); });
  }
  return marks;
}

MarksTable AnnotationsTable(std::int32_t rank, std::span<const AnnotationStatistic> rows) {
  using Row = AnnotationStatistic;
  MarksTable marks =
      EmptyTable(rank, {"name", "from_us", "to_us", "count", "sum_ns", "min_ns", "max_ns"});
  marks.table.rows = rows.size();
  std::int64_t index = 0;
  AddColumn(marks.table, rows, [&index](const Row&) { return index++; });
  AddColumn(marks.table, rows, [](const Row& row) { return row.from_us; });
  AddColumn(marks.table, rows, [](const Row& row) { return row.to_us; });
  AddColumn(marks.table, rows, [](const Row& row) { return row.count; });
  AddColumn(marks.table, rows, [](const Row& row) { return row.sum_ns; });
  AddColumn(marks.table, rows, [](const Row& row) { return row.min_ns; });
  AddColumn(marks.table, rows, [](const Row& row) { return row.max_ns; });
  for (const Row& row : rows) marks.schema.names.push_back(row.name);
  return marks;
}

}  // namespace stepscope
