#pragma once

#include <cstdint>
#include <vector>

#include "server/api/chart.h"
#include "server/store/jobs.h"
#include "server/store/tick_table.h"

namespace stepscope {

// What a chart shows, and at which grain.
struct ChartQuery {
  std::int64_t job_id = 0;
  std::vector<NodeRow> nodes;
  std::int64_t from_us = 0, to_us = 0, bin_us = 1;
  TickFilter filter;
  std::size_t most_series = 2'000;
};

// The width that bins of about `bin_us` should have: a multiple of the rollups they are drawn from.
std::int64_t ChartBin(std::int64_t bin_us);

// From rollups where the bins are wide enough for them, else from every sample. Invalid when there
// are more series than allowed.
Status FillChart(Connection& connection, const ChartQuery& query, Chart& chart);

}  // namespace stepscope
