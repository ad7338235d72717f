#pragma once

#include <cstdint>
#include <vector>

#include "server/api/charts/chart.h"
#include "server/store/rollups/rollups.h"
#include "server/store/ticks/job_head.h"
#include "server/store/ticks/tick_table.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {

inline constexpr std::size_t kMostSeries = 2'000;  // that are written down one by one
// That become one for each metric: what the page asks for of 64 nodes with 8 GPUs each is 2,496.
inline constexpr std::size_t kMostFolded = 20'000;

// What a chart shows, and at which grain.
struct ChartQuery {
  std::int64_t job_id = 0;
  std::vector<NodeBrief> nodes;
  std::int64_t from_us = 0, to_us = 0, bin_us = 1;
  TickFilter filter;
  std::size_t most_series = kMostSeries;
  bool whole_job = false;                 // all nodes and all devices of them
  bool means = false;                     // nobody asks for least and greatest
  const FetchedTicks* fetched = nullptr;  // ticks that came with the head; null without
};

// The width that bins of about `bin_us` should have: a multiple of the rollups they are drawn from.
std::int64_t ChartBin(std::int64_t bin_us);

// The coarsest rollup whose bins fall into one bin of the chart each; 0 when there is none.
std::int64_t RollupBin(std::int64_t bin_us);

// What a chart reads: the ticks of a node, or the rollups of a level, of all nodes.
TickQuery TicksOf(const ChartQuery& query, std::int64_t node_id);
RollupQuery RollupsOf(const ChartQuery& query, std::int64_t bin_us);

// Ticks are read one stretch of time after the other: this is the first, unless it is too much.
TickQuery FirstBatch(TickQuery ticks, std::int64_t interval_us);

// Invalid when a chart has more series than allowed, or more bins than memory is meant for.
Status CheckSeries(const ChartQuery& query, const Chart& chart);

// Invalid when nothing was found of a metric in rollups because its devices are too many for them.
Status CheckRollups(Connection& connection, const ChartQuery& query, const Chart& chart);

// Every sample of a node. Checked as above.
Status AddNodeSamples(Connection& connection, const ChartQuery& query, const NodeBrief& node,
                      Chart& chart);

// From rollups where the bins are wide enough for them, else from every sample. Checked as
// above.
Status FillChart(Connection& connection, const ChartQuery& query, Chart& chart);

}  // namespace stepscope
