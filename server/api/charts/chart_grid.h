#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/api/charts/chart_data.h"
#include "server/api/http/query.h"
#include "server/store/ticks/job_head.h"

namespace stepscope {

// The range of an answer and the grid of its bins.
struct ChartGrid {
  std::int64_t from_us = 0, to_us = 0, bin_us = 1, interval_us = 1;
};

// Where an answer ended: its bins, and the one the next answer begins with.
struct ChartCursor {
  std::int64_t bin_us = 0, begin_us = 0;
};

std::string EncodeCursor(const ChartCursor& cursor);
std::optional<ChartCursor> DecodeCursor(const std::string& text);

// Some nodes lag: the next answer begins where the slowest live one stands. 0 without ticks.
std::int64_t SlowestLive(const std::vector<TickRange>& ranges);

// What the query (from_us, to_us, points) and the cursor that it goes on from ask for of a job.
ChartGrid ChooseGrid(const JobRow& job, const std::vector<TickRange>& ranges, const Query& query,
                     const std::optional<ChartCursor>& since);

// What a chart on this grid shows of the job: by metric, node, device, fold and values.
ChartQuery ToChartQuery(const Query& query, const ChartGrid& grid, const JobRow& job,
                        const std::vector<NodeBrief>& nodes);

}  // namespace stepscope
