#include "server/api/chart_fold.h"

#include <algorithm>
#include <map>
#include <set>

#include "server/store/job_rollups.h"
#include "server/store/series.h"

namespace stepscope {
namespace {

// Tables with bins of each node, by the row of rollups that they belong to.
using Tables = std::map<std::int64_t, std::vector<const TickTable*>>;
using Parts = std::map<RollupKey, Tables>;

struct FreshRollup {
  std::int64_t node_id = 0;
  StoredRollup rollup;
};

// What is in no rollup yet.
Result<std::vector<FreshRollup>> ReadFresh(Connection& connection, const ChartQuery& query,
                                           const RollupQuery& wanted) {
  const std::int64_t only = query.nodes.size() == 1 ? query.nodes[0].node_id : 0;
  const auto nodes = ReadFreshTicks(connection, TicksOf(query, only));
  if (!nodes) return nodes.error();
  std::vector<FreshRollup> fresh;
  for (const NodeTicks& node : *nodes) {
    const bool shown = std::ranges::count(query.nodes, node.node_id, &NodeBrief::node_id) > 0;
    if (!shown) continue;
    for (StoredRollup& rollup : RollUpTicks(node.ticks, *LevelFor(wanted.bin_us))) {
      fresh.push_back({node.node_id, std::move(rollup)});
    }
  }
  return fresh;
}

void Draw(const FoldedRollup& rollup, const ChartQuery& query, Chart& chart) {
  chart.Add(rollup, query.from_us, query.to_us);
}

// From the rollups of the nodes that the query wants, and those of the fresh that belong to `some`.
Status DrawNodes(Connection& connection, const ChartQuery& query, const RollupQuery& wanted,
                 const std::vector<FreshRollup>& fresh, const auto& some, Chart& chart) {
  const Result<std::vector<NodeRollup>> rollups = LoadRollups(connection, wanted);
  if (!rollups) return rollups.error();
  Parts parts;
  for (const NodeRollup& rollup : *rollups) {
    if (rollup.bins.at_us.empty()) continue;
    const std::int64_t chunk_us = ChunkOf(rollup.bins.at_us.front(), wanted.bin_us);
    const RollupKey key{wanted.bin_us, rollup.metric, chunk_us};
    if (some(key)) parts[key][rollup.node_id].push_back(&rollup.bins);
  }
  for (const FreshRollup& one : fresh) {
    if (some(one.rollup.key)) parts[one.rollup.key][one.node_id].push_back(&one.rollup.bins);
  }
  for (const auto& [key, nodes] : parts) {
    RollupFold fold(key);
    for (const auto& [node_id, tables] : nodes) fold.AddNode(tables);
    Draw(fold.Take(), query, chart);
  }
  return {};
}

// Folded rollups where there are some to which nothing came, and the nodes' own for the rest.
Status DrawJob(Connection& connection, const ChartQuery& query, const RollupQuery& wanted,
               const std::vector<FreshRollup>& fresh, Chart& chart) {
  const Result<std::vector<FoldedRollup>> rollups = LoadJobRollups(connection, wanted);
  if (!rollups) return rollups.error();
  std::set<RollupKey> others;
  for (const FreshRollup& one : fresh) others.insert(one.rollup.key);
  for (const FoldedRollup& rollup : *rollups) {
    if (rollup.bins.empty()) others.insert(rollup.key);
    if (!others.contains(rollup.key)) Draw(rollup, query, chart);
  }
  // A metric at a time, since there may be many nodes.
  for (auto from = others.begin(); from != others.end();) {
    RollupQuery some = wanted;
    some.filter.metrics = {from->metric};
    const auto to = std::find_if(from, others.end(),
                                 [&](const RollupKey& key) { return key.metric != from->metric; });
    for (; from != to; ++from) some.chunks_us.push_back(from->chunk_us);
    const auto is_one = [&](const RollupKey& key) {
      return key.metric == some.filter.metrics[0] && others.contains(key);
    };
    const Status drawn = DrawNodes(connection, query, some, fresh, is_one, chart);
    if (!drawn) return drawn;
  }
  return {};
}

// In one snapshot: a frame that is compacted meanwhile would else count twice.
Status DrawRollups(Connection& connection, const ChartQuery& query, std::int64_t bin_us,
                   Chart& chart) {
  const Result<Transaction> snapshot = Transaction::Snapshot(connection);
  if (!snapshot) return snapshot.error();
  RollupQuery wanted = RollupsOf(query, bin_us);
  const auto fresh = ReadFresh(connection, query, wanted);
  if (!fresh) return fresh.error();
  if (query.whole_job) return DrawJob(connection, query, wanted, *fresh, chart);
  for (const NodeBrief& node : query.nodes) wanted.node_ids.push_back(node.node_id);
  const auto all = [](const RollupKey&) { return true; };
  return DrawNodes(connection, query, wanted, *fresh, all, chart);
}

}  // namespace

Status FillFolded(Connection& connection, const ChartQuery& query, Chart& chart) {
  if (query.nodes.empty()) return {};
  if (const std::int64_t bin_us = RollupBin(query.bin_us); bin_us > 0) {
    const Status drawn = DrawRollups(connection, query, bin_us, chart);
    return drawn ? CheckSeries(query, chart) : drawn;
  }
  Chart each(query.bin_us, chart.interval_us());
  const Status filled = FillChart(connection, query, each);
  if (filled) chart = each.Folded();
  return filled;
}

}  // namespace stepscope
