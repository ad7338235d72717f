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

// The end of an answer: the width of its bins, and the bin that the next answer begins with.
struct ChartCursor {
  std::int64_t bin_us = 0, begin_us = 0;
};

std::string EncodeCursor(const ChartCursor& cursor);
std::optional<ChartCursor> DecodeCursor(const std::string& text);

// The last tick of the slowest live node, where the next answer begins, since some nodes lag. 0
// without ticks.
std::int64_t SlowestLive(const std::vector<TickRange>& ranges);

// The grid for a query (from_us, to_us, points) and the cursor that it continues from.
ChartGrid ChooseGrid(const JobRow& job, const std::vector<TickRange>& ranges, const Query& query,
                     const std::optional<ChartCursor>& since);

// The content of a chart on this grid: by metric, node, device, fold and values.
ChartQuery ToChartQuery(const Query& query, const ChartGrid& grid, const JobRow& job,
                        const std::vector<NodeBrief>& nodes);

}  // namespace stepscope
