#pragma once

#include <cstdint>
#include <span>

#include "agent/marks/intake.h"
#include "core/model/table.h"

namespace stepscope {

// A table with what its columns are, as docs/decisions/0001 lays them out.
struct MarksTable {
  Schema schema;
  Table table;
};

// "step", "start_us", "wall_ns", then the ten phases by name in nanoseconds.
MarksTable StepsTable(std::int32_t rank, std::span<const Step> steps);

// "name" (index into the schema's names), "from_us", "to_us", "count", "sum_ns", "min_ns",
// "max_ns". The schema's names are exactly those of the rows, in their order.
MarksTable AnnotationsTable(std::int32_t rank, std::span<const AnnotationStatistic> rows);

}  // namespace stepscope
