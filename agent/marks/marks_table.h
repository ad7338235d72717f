#pragma once

#include <cstdint>
#include <span>

#include "agent/marks/intake.h"
#include "core/model/table.h"

namespace stepscope {

// A table and its schema; docs/decisions/0001-first-slice.md has the columns.
struct MarksTable {
  Schema schema;
  Table table;
};

// Columns "step", "start_us", "wall_ns", then the ten phases by name in nanoseconds.
MarksTable StepsTable(std::int32_t rank, std::span<const Step> steps);

// Columns "name" (index into the schema's names), "from_us", "to_us", "count", "sum_ns", "min_ns",
// "max_ns". The schema's names are exactly those of the rows, in their order.
MarksTable AnnotationsTable(std::int32_t rank, std::span<const AnnotationStatistic> rows);

}  // namespace stepscope
