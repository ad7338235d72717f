#include "server/api/charts/chart_data.h"

#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "server/store/rollups/rollup_gap.h"
#include "server/store/ticks/short_range.h"
#include "server/store/ticks/tick_batches.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {
namespace {

// The bins of all series: the page asks for 360 of each. They take 46 MB, up to twice that while
// they grow, and their text half as much.
constexpr std::size_t kMostCells = kMostSeries * 360;
// An hour at two ticks a second is requested most, and is one batch; the next one begins after it.
constexpr std::int64_t kTicksAtOnce = 7'320;
constexpr std::int64_t kLeastBatchUs = 600'000'000, kMostBatchUs = 3'660'000'000;
static_assert(kMostBatchUs <= kShortUs);

std::int64_t BatchUs(std::int64_t interval_us) {
  return std::clamp(kTicksAtOnce * interval_us, kLeastBatchUs, kMostBatchUs);
}

}  // namespace

Status CheckSeries(const ChartQuery& query, const Chart& chart) {
  if (chart.series() > query.most_series) {
    return Invalid(
        Format("more than {} series; choose metrics, a node or a device", query.most_series));
  }
  const auto bins = static_cast<std::size_t>(
      std::max<std::int64_t>((query.to_us - query.from_us) / query.bin_us, 1));
  if (chart.lines() * bins <= kMostCells) return {};
  return Invalid(
      Format("{} series of {} bins are more than {} values; choose metrics, a node or wider bins",
             chart.lines(), bins, kMostCells));
}

// Checks only a metric that was asked for alone: the page asks for many, of which some do not
// exist.
Status CheckRollups(Connection& connection, const ChartQuery& query, const Chart& chart) {
  const std::int64_t bin_us = RollupBin(query.bin_us);
  if (bin_us == 0 || chart.lines() > 0 || query.filter.metrics.size() != 1) return {};
  UnrolledQuery wanted{.job_id = query.job_id,
                       .node_ids = {},
                       .metric = query.filter.metrics[0],
                       .from_us = query.from_us,
                       .until_us = query.to_us,
                       .bin_us = bin_us};
  for (const NodeBrief& node : query.nodes) wanted.node_ids.push_back(node.node_id);
  const Result<bool> unrolled = HasRollupGap(connection, wanted);
  if (!unrolled) return unrolled.error();
  if (!*unrolled) return {};
  return Invalid(Format(
      "{} has too many devices on a node: there are no bins of 10 s or more of it; charts of "
      "one device with narrower bins show its samples",
      wanted.metric));
}

std::int64_t RollupBin(std::int64_t bin_us) {
  std::int64_t best = 0;
  for (const RollupLevel& level : kRollupLevels) {
    if (bin_us % level.bin_us == 0) best = level.bin_us;
  }
  return best;
}

TickQuery TicksOf(const ChartQuery& query, std::int64_t node_id) {
  return {.job_id = query.job_id,
          .node_id = node_id,
          .after_us = query.from_us - 1,
          .until_us = query.to_us,
          .filter = query.filter,
          .values_only = true,
          .fetched = query.fetched};
}

RollupQuery RollupsOf(const ChartQuery& query, std::int64_t bin_us) {
  return {.job_id = query.job_id,
          .node_ids = {},
          .bin_us = bin_us,
          .from_us = query.from_us,
          .until_us = query.to_us,
          .filter = query.filter,
          .means = query.means};
}

TickQuery FirstBatch(TickQuery ticks, std::int64_t interval_us) {
  ticks.until_us = std::min(ticks.until_us, ticks.after_us + BatchUs(interval_us));
  return ticks;
}

Status AddNodeSamples(Connection& connection, const ChartQuery& query, const NodeBrief& node,
                      Chart& chart) {
  return ForEachTickBatch(connection, TicksOf(query, node.node_id), BatchUs(chart.interval_us()),
                          [&](TickTable table) {
                            chart.Add(node.name, std::move(table));
                            return CheckSeries(query, chart);
                          });
}

namespace {

// Reads in one snapshot, or a frame that is compacted meanwhile would count twice. The first series
// too many ends it: all series of a large job take a gigabyte before anybody could refuse them.
Status AddRollups(Connection& connection, const ChartQuery& query, std::int64_t bin_us,
                  Chart& chart) {
  const Result<Transaction> snapshot = Transaction::Snapshot(connection);
  if (!snapshot) return snapshot.error();
  std::map<std::int64_t, std::string> names;
  for (const NodeBrief& node : query.nodes) names[node.node_id] = node.name;
  RollupQuery wanted = RollupsOf(query, bin_us);
  for (const auto& [node_id, name] : names) wanted.node_ids.push_back(node_id);
  const Status read = ForEachRollup(connection, wanted, [&](const NodeRollup& rollup) {
    chart.Add(names[rollup.node_id], rollup, bin_us, query.from_us, query.to_us);
    return CheckSeries(query, chart);
  });
  if (!read) return read;
  const std::int64_t only = query.nodes.size() == 1 ? query.nodes[0].node_id : 0;
  return ForEachFreshNode(connection, TicksOf(query, only), [&](NodeTicks node) -> Status {
    const auto name = names.find(node.node_id);
    if (name == names.end()) return {};
    chart.Add(name->second, std::move(node.ticks));
    return CheckSeries(query, chart);
  });
}

}  // namespace

std::int64_t ChartBin(std::int64_t bin_us) {
  const RollupLevel* level = LevelFor(bin_us);
  return level ? (bin_us + level->bin_us - 1) / level->bin_us * level->bin_us : bin_us;
}

Status FillChart(Connection& connection, const ChartQuery& query, Chart& chart) {
  if (query.nodes.empty()) return {};
  if (const std::int64_t bin_us = RollupBin(query.bin_us); bin_us > 0) {
    const Status added = AddRollups(connection, query, bin_us, chart);
    return added ? CheckRollups(connection, query, chart) : added;
  }
  for (const NodeBrief& node : query.nodes) {
    if (Status added = AddNodeSamples(connection, query, node, chart); !added) return added;
  }
  return {};
}

}  // namespace stepscope
