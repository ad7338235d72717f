#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/step.h"
#include "core/model/table.h"
#include "server/store/database.h"

namespace stepscope {

// Ticks and steps as they were measured. Everyone who reads samples comes through these functions:
// they will see blocks and the frames that are not compacted yet as one, each sample once.

struct TickQuery {
  std::int64_t job_id = 0;
  std::int64_t node_id = 0;
  std::int64_t after_us = 0;          // exclusive
  std::int64_t until_us = INT64_MAX;  // inclusive
  std::vector<std::string> metrics;   // empty = all
  std::optional<std::string> device;
  std::size_t most_rows = 100'000;  // oldest first; the rest with the next call
};
struct TickTable {
  std::vector<std::int64_t> at_us;  // ascending, each once
  std::vector<SeriesName> series;   // sorted
  std::vector<Column> columns;      // one for each series; missing where the node did not have it
};
Result<TickTable> ReadTicks(Connection&, const TickQuery&);

struct StepQuery {
  std::int64_t job_id = 0;
  int rank = 0;
  std::int64_t after_us = 0;  // start of the step, exclusive
  std::int64_t until_us = INT64_MAX;
  std::size_t most_rows = 100'000;
};
Result<std::vector<Step>> ReadSteps(Connection&, const StepQuery&);

// Statistics of annotations of a rank over the whole job.
struct AnnotationRow {
  std::string name;
  std::int64_t count = 0, sum_ns = 0, min_ns = 0, max_ns = 0;
};
Result<std::vector<AnnotationRow>> ReadAnnotations(Connection&, std::int64_t job_id, int rank);

// First and last tick of each node, for the range of charts.
struct TickRange {
  std::int64_t node_id = 0, from_us = 0, to_us = 0;
};
Result<std::vector<TickRange>> ReadTickRanges(Connection&, std::int64_t job_id);

}  // namespace stepscope
