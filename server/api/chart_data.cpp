#include "server/api/chart_data.h"

#include <algorithm>
#include <map>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostCells = 20'000'000;  // bins of all series: a gigabyte

}  // namespace

Status CheckSeries(const ChartQuery& query, const Chart& chart) {
  if (chart.series() > query.most_series) {
    return Invalid(
        Format("more than {} series; choose metrics, a node or a device", query.most_series));
  }
  const auto bins = static_cast<std::size_t>(
      std::max<std::int64_t>((query.to_us - query.from_us) / query.bin_us, 1));
  if (chart.series() * bins <= kMostCells) return {};
  return Invalid(Format("{} series of {} bins are more than {} values; choose metrics or a node",
                        chart.series(), bins, kMostCells));
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
          .values_only = true};
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

namespace {

Status AddSamples(Connection& connection, const ChartQuery& query, Chart& chart) {
  for (const NodeBrief& node : query.nodes) {
    TickQuery ticks = TicksOf(query, node.node_id);
    for (;;) {
      Result<TickTable> table = ReadTicks(connection, ticks);
      if (!table) return table.error();
      const bool last = table->complete || table->at_us.empty();
      if (!last) ticks.after_us = table->at_us.back();
      chart.Add(node.name, *std::move(table));
      if (Status good = CheckSeries(query, chart); !good) return good;
      if (last) break;
    }
  }
  return {};
}

// In one snapshot: a frame that is compacted meanwhile would else count twice. The first series too
// many ends it: all of a large job take a gigabyte before anybody could refuse them.
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
  auto fresh = ReadFreshTicks(connection, TicksOf(query, only));
  if (!fresh) return fresh.error();
  for (NodeTicks& node : *fresh) {
    if (names.contains(node.node_id)) chart.Add(names[node.node_id], std::move(node.ticks));
  }
  return CheckSeries(query, chart);
}

}  // namespace

std::int64_t ChartBin(std::int64_t bin_us) {
  const RollupLevel* level = LevelFor(bin_us);
  return level ? (bin_us + level->bin_us - 1) / level->bin_us * level->bin_us : bin_us;
}

Status FillChart(Connection& connection, const ChartQuery& query, Chart& chart) {
  if (query.nodes.empty()) return {};
  const std::int64_t bin_us = RollupBin(query.bin_us);
  return bin_us == 0 ? AddSamples(connection, query, chart)
                     : AddRollups(connection, query, bin_us, chart);
}

}  // namespace stepscope
