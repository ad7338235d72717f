#include "server/api/charts/chart_fold.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "server/store/rollups/job_rollups.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {
namespace {

// Bins by node, for each row of rollups.
using Fresh = std::map<RollupKey, std::map<std::int64_t, std::vector<TickTable>>>;

// The samples that are in no rollup yet.
Result<Fresh> ReadFresh(Connection& connection, const ChartQuery& query,
                        const RollupQuery& wanted) {
  const std::int64_t only = query.nodes.size() == 1 ? query.nodes[0].node_id : 0;
  Fresh fresh;
  const auto take = [&](const NodeTicks& node) -> Status {
    if (std::ranges::count(query.nodes, node.node_id, &NodeBrief::node_id) == 0) return {};
    for (StoredRollup& rollup : RollUpTicks(node.ticks, *LevelFor(wanted.bin_us))) {
      fresh[rollup.key][node.node_id].push_back(std::move(rollup.bins));
    }
    return {};
  };
  const Status read = ForEachFreshNode(connection, TicksOf(query, only), take);
  if (!read) return read.error();
  return fresh;
}

void Draw(const FoldedRollup& rollup, const ChartQuery& query, Chart& chart) {
  chart.Add(rollup, query.from_us, query.to_us);
}

// Folds rollups of nodes, in the order of metrics, as they are read: they take a hundred times the
// memory of their fold.
class NodesFold {
 public:
  NodesFold(const ChartQuery& query, Fresh fresh, Chart& chart)
      : query_(query), fresh_(std::move(fresh)), chart_(chart) {}

  // Adds a node's row, of which there is one.
  Status Add(const RollupKey& key, std::int64_t node_id, TickTable bins) {
    if (Status drawn = key.metric == metric_ ? Status() : DrawMetric(); !drawn) return drawn;
    metric_ = key.metric;
    std::vector<TickTable> tables;
    tables.push_back(std::move(bins));
    if (const auto fresh = fresh_.find(key); fresh != fresh_.end()) {
      if (auto its = fresh->second.extract(node_id)) {
        std::ranges::move(its.mapped(), std::back_inserter(tables));
      }
    }
    FoldOf(key).AddNode(tables);
    return {};
  }
  Status Finish() {
    Status drawn = DrawMetric();
    for (; drawn && !fresh_.empty(); drawn = DrawMetric()) metric_ = fresh_.begin()->first.metric;
    return drawn;
  }

 private:
  RollupFold& FoldOf(const RollupKey& key) { return folds_.try_emplace(key, key).first->second; }

  // Adds fresh bins of nodes without a row.
  Status DrawMetric() {
    auto fresh = fresh_.lower_bound({RollupBin(query_.bin_us), metric_, INT64_MIN});
    while (fresh != fresh_.end() && fresh->first.metric == metric_) {
      for (const auto& [node_id, tables] : fresh->second) FoldOf(fresh->first).AddNode(tables);
      fresh = fresh_.erase(fresh);
    }
    for (const auto& [key, fold] : folds_) Draw(fold.Take(), query_, chart_);
    folds_.clear();
    return CheckSeries(query_, chart_);
  }

  const ChartQuery& query_;
  Fresh fresh_;
  Chart& chart_;
  std::string metric_;
  std::map<RollupKey, RollupFold> folds_;  // the current metric's
};

// Draws the rollups of the wanted nodes, and fresh samples.
Status DrawNodes(Connection& connection, const ChartQuery& query, const RollupQuery& wanted,
                 Fresh fresh, Chart& chart) {
  NodesFold fold(query, std::move(fresh), chart);
  const Status read = ForEachRollup(connection, wanted, [&](NodeRollup rollup) -> Status {
    if (rollup.bins.at_us.empty()) return {};
    const std::int64_t chunk_us = ChunkOf(rollup.bins.at_us.front(), wanted.bin_us);
    return fold.Add({wanted.bin_us, rollup.metric, chunk_us}, rollup.node_id,
                    std::move(rollup.bins));
  });
  return read ? fold.Finish() : read;
}

// Draws folded rollups where no fresh samples belong to them, and the nodes' rollups for the rest.
Status DrawJob(Connection& connection, const ChartQuery& query, const RollupQuery& wanted,
               Fresh fresh, Chart& chart) {
  std::set<RollupKey> others;
  for (const auto& [key, its] : fresh) others.insert(key);
  const Status read = ForEachJobRollup(connection, wanted, [&](const FoldedRollup& rollup) {
    if (rollup.bins.empty()) others.insert(rollup.key);
    if (!others.contains(rollup.key)) Draw(rollup, query, chart);
    return CheckSeries(query, chart);
  });
  if (!read) return read;
  // Draws a metric at a time: each has chunks of its own.
  for (auto from = others.begin(); from != others.end();) {
    RollupQuery one = wanted;
    one.filter.metrics = {from->metric};
    const auto to = std::find_if(from, others.end(),
                                 [&](const RollupKey& key) { return key.metric != from->metric; });
    Fresh its;
    for (; from != to; ++from) {
      one.chunks_us.push_back(from->chunk_us);
      if (auto node = fresh.extract(*from)) its.insert(std::move(node));
    }
    const Status drawn = DrawNodes(connection, query, one, std::move(its), chart);
    if (!drawn) return drawn;
  }
  return {};
}

// Reads in one snapshot, or a frame that is compacted meanwhile would count twice.
Status DrawRollups(Connection& connection, const ChartQuery& query, std::int64_t bin_us,
                   Chart& chart) {
  const Result<Transaction> snapshot = Transaction::Snapshot(connection);
  if (!snapshot) return snapshot.error();
  RollupQuery wanted = RollupsOf(query, bin_us);
  Result<Fresh> fresh = ReadFresh(connection, query, wanted);
  if (!fresh) return fresh.error();
  if (query.whole_job) return DrawJob(connection, query, wanted, *std::move(fresh), chart);
  for (const NodeBrief& node : query.nodes) wanted.node_ids.push_back(node.node_id);
  return DrawNodes(connection, query, wanted, *std::move(fresh), chart);
}

}  // namespace

Status FillFolded(Connection& connection, const ChartQuery& query, Chart& chart) {
  if (query.nodes.empty()) return {};
  if (const std::int64_t bin_us = RollupBin(query.bin_us); bin_us > 0) {
    const Status drawn = DrawRollups(connection, query, bin_us, chart);
    return drawn ? CheckRollups(connection, query, chart) : drawn;
  }
  for (const NodeBrief& node : query.nodes) {
    Chart each(query.bin_us, chart.interval_us());
    if (Status added = AddNodeSamples(connection, query, node, each); !added) return added;
    chart.AddFolded(each);
    if (Status good = CheckSeries(query, chart); !good) return good;
  }
  return {};
}

}  // namespace stepscope
