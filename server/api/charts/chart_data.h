#pragma once

#include <cstdint>
#include <vector>

#include "server/api/charts/chart.h"
#include "server/store/rollups/rollups.h"
#include "server/store/ticks/job_head.h"
#include "server/store/ticks/tick_table.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {

inline constexpr std::size_t kMostSeries = 2'000;  // series that are written one by one
// Series that become one for each metric: the page asks for 2,496 of 64 nodes with 8 GPUs each.
inline constexpr std::size_t kMostFolded = 20'000;

// The content of a chart, and the width of its bins.
struct ChartQuery {
  std::int64_t job_id = 0;
  std::vector<NodeBrief> nodes;
  std::int64_t from_us = 0, to_us = 0, bin_us = 1;
  TickFilter filter;
  std::size_t most_series = kMostSeries;
  bool whole_job = false;                 // all nodes with all devices
  bool means = false;                     // least and greatest are not wanted
  const FetchedTicks* fetched = nullptr;  // ticks that were read with the head; null without
};

// The width that bins of about `bin_us` should have: a multiple of the rollups they are drawn from.
std::int64_t ChartBin(std::int64_t bin_us);

// The coarsest rollup whose bins fall into one bin of the chart each; 0 when there is none.
std::int64_t RollupBin(std::int64_t bin_us);

// The query of a chart for the ticks of a node, or for the rollups of a level, of all nodes.
TickQuery TicksOf(const ChartQuery& query, std::int64_t node_id);
RollupQuery RollupsOf(const ChartQuery& query, std::int64_t bin_us);

// Ticks are read in batches (tick_batches.h): this is the query of the first, unless it has too
// many values.
TickQuery FirstBatch(TickQuery ticks, std::int64_t interval_us);

// Invalid when a chart has more series than allowed, or more bins than memory is meant for.
Status CheckSeries(const ChartQuery& query, const Chart& chart);

// Invalid when rollups have nothing of a metric because it has too many devices.
Status CheckRollups(Connection& connection, const ChartQuery& query, const Chart& chart);

// Adds every sample of a node. Checked by CheckSeries.
Status AddNodeSamples(Connection& connection, const ChartQuery& query, const NodeBrief& node,
                      Chart& chart);

// Fills the chart from rollups where the bins are wide enough for them, else from every sample.
// Checked by CheckSeries.
Status FillChart(Connection& connection, const ChartQuery& query, Chart& chart);

}  // namespace stepscope
