#include "server/report/measure/usage_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "core/base/json_members.h"
#include "core/base/text.h"
#include "core/model/metric.h"
#include "rules/catalog/catalog.h"
#include "server/report/measure/usage_pool.h"
#include "server/store/rollups/rollup_fold.h"
#include "server/store/ticks/scaled_column.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostMeans = 2'000'000;

using Pools = std::map<std::string, UsagePool>;  // by metric

std::vector<std::string> UsageMetrics() {
  const auto metrics = FindRule("OverallSystemUsage")->metrics;
  return {metrics.begin(), metrics.end()};
}

void AppendRows(const NodeBrief& node, const std::vector<std::string>& metrics, Pools& pools,
                UsageTable& table) {
  for (const std::string& metric : metrics) {
    if (auto row = std::move(pools[metric]).Row(node.name, metric)) table.rows.push_back(*row);
  }
}

TickQuery TicksOf(const SeriesRange& range, std::int64_t node_id) {
  return {.job_id = range.job.job_id,
          .node_id = node_id,
          .after_us = range.from_us - 1,
          .until_us = range.to_us,
          .filter = {range.filter.metrics, {}}};
}

void Add(const SampleSeries& series, UsagePool& pool, DeviceUse* use) {
  pool.BeginDevice();
  const auto one = static_cast<double>(PowerOfTen(series.scale));
  for (std::size_t i = 0; i < series.values.size(); ++i) {
    const double value = static_cast<double>(series.values[i]) / one;
    pool.Add(series.at_us[i], value, value, value);
    if (use != nullptr) use->Add(series.at_us[i], value, value, value);
  }
}

Result<UsageTable> UsageOfSamples(Connection& connection, const SeriesRange& range,
                                  ReadBudget budget, DeviceUses* uses) {
  if (uses != nullptr) uses->Begin(range.from_us, range.to_us, range.interval_us);
  UsageTable table;
  for (const NodeBrief& node : range.nodes) {
    const auto read = ReadSamples(connection, TicksOf(range, node.node_id), budget);
    if (!read) return read.error();
    Pools pools;
    for (const SampleSeries& series : *read) {
      Add(series, pools[series.metric],
          uses == nullptr ? nullptr : &uses->Of(node.name, series.metric, series.device));
    }
    AppendRows(node, range.filter.metrics, pools, table);
  }
  return table;
}

// The number of values if each metric had so many devices.
double Expected(const SeriesRange& range, std::int64_t width_us, double devices) {
  return devices * static_cast<double>(range.to_us - range.from_us) /
         static_cast<double>(width_us) *
         static_cast<double>(range.nodes.size() * range.filter.metrics.size());
}

std::int64_t ChooseLevel(const SeriesRange& range, double devices) {
  for (const RollupLevel& level : kRollupLevels) {
    if (Expected(range, level.bin_us, devices) <= double(kMostMeans)) return level.bin_us;
  }
  return std::end(kRollupLevels)[-1].bin_us;
}

// Adds the means of bins of one node that begin in [from_us, to_us].
struct Means {
  std::int64_t bin_us = 0, from_us = 0, to_us = 0;
  std::string node = {};
  DeviceUses* uses = nullptr;
  Pools pools = {};
  std::set<SeriesName> devices = {};  // devices met so far

  void Add(const std::string& metric, const TickTable& bins) {
    UsagePool& pool = pools[metric];
    for (const RollupDevice& device : DevicesOf(bins)) {
      if (devices.insert({metric, *device.device}).second) pool.BeginDevice();
      DeviceUse* use = uses == nullptr ? nullptr : &uses->Of(node, metric, *device.device);
      const ScaledColumn count(device.count), sum(device.sum), least(device.least),
          most(device.greatest);
      for (std::size_t row = 0; row < bins.at_us.size(); ++row) {
        const std::int64_t at_us = bins.at_us[row];
        if (!device.count->Has(row) || at_us < from_us || at_us > to_us) continue;
        const double mean = sum[row] / count[row];
        pool.Add(at_us, mean, least[row], most[row]);
        if (use != nullptr) use->Add(at_us, mean, least[row], most[row]);
      }
    }
  }
  std::size_t size() const {
    std::size_t size = 0;
    for (const auto& [metric, pool] : pools) size += pool.size();
    return size;
  }
};

using NodeMeans = std::map<std::int64_t, Means>;  // by node

// The number of nodes whose rollups are read by one query: a query for each node took a fifth of
// the time, and one for all would hold all means in memory.
constexpr std::size_t kNodesAtOnce = 16;

// The means of samples that are in no rollup yet, by node: for all nodes, or for a single one.
using Fresh = std::map<std::int64_t, std::vector<StoredRollup>>;
Result<Fresh> ReadFresh(Connection& connection, const SeriesRange& range, std::int64_t bin_us) {
  const std::int64_t only = range.nodes.size() == 1 ? range.nodes[0].node_id : 0;
  Fresh fresh;
  const auto take = [&](const NodeTicks& node) {
    std::ranges::move(RollUpTicks(node.ticks, *LevelFor(bin_us)),
                      std::back_inserter(fresh[node.node_id]));
    return Status();
  };
  const Status read = ForEachFreshNode(connection, TicksOf(range, only), take);
  if (!read) return read.error();
  return fresh;
}

Status ReadMeans(Connection& connection, const SeriesRange& range, std::int64_t bin_us,
                 std::span<const NodeBrief> nodes, DeviceUses* uses, NodeMeans& means) {
  RollupQuery query{.job_id = range.job.job_id,
                    .node_ids = {},
                    .bin_us = bin_us,
                    .from_us = range.from_us - range.from_us % bin_us,
                    .until_us = range.to_us,
                    .filter = {range.filter.metrics, {}}};
  for (const NodeBrief& node : nodes) {
    query.node_ids.push_back(node.node_id);
    means[node.node_id] = {bin_us, query.from_us, query.until_us, node.name, uses};
  }
  return ForEachRollup(connection, query, [&](const NodeRollup& rollup) {
    means[rollup.node_id].Add(rollup.metric, rollup.bins);
    return Status();
  });
}

// Reads in one snapshot: a frame that is compacted meanwhile would otherwise count twice.
Result<UsageTable> UsageOfMeans(Connection& connection, const SeriesRange& range, double devices,
                                DeviceUses* uses) {
  const Result<Transaction> snapshot = Transaction::Snapshot(connection);
  if (!snapshot) return snapshot.error();
  const std::int64_t bin_us = ChooseLevel(range, devices);
  if (uses != nullptr) uses->Begin(range.from_us, range.to_us, bin_us);
  UsageTable table{.of = Format("means of {} s", bin_us / 1'000'000), .rows = {}};
  const Result<Fresh> fresh = ReadFresh(connection, range, bin_us);
  if (!fresh) return fresh.error();
  std::size_t left = 2 * kMostMeans;
  const std::span<const NodeBrief> all(range.nodes);
  for (std::size_t from = 0; from < all.size(); from += kNodesAtOnce) {
    const auto nodes = all.subspan(from, std::min(kNodesAtOnce, all.size() - from));
    NodeMeans means;
    const Status read = ReadMeans(connection, range, bin_us, nodes, uses, means);
    if (!read) return read.error();
    for (const NodeBrief& node : nodes) {
      Means& its = means[node.node_id];
      if (const auto its_fresh = fresh->find(node.node_id); its_fresh != fresh->end()) {
        for (const StoredRollup& one : its_fresh->second) its.Add(one.key.metric, one.bins);
      }
      if (its.size() > left) return Invalid("more than one table is made of; choose a node");
      left -= its.size();
      AppendRows(node, range.filter.metrics, its.pools, table);
    }
  }
  return table;
}

// Reads the metrics of the range.
Result<UsageTable> ReadTable(Connection& connection, const SeriesRange& range, ReadBudget budget,
                             double devices, DeviceUses* uses) {
  const bool few = Expected(range, range.interval_us, 1) <= static_cast<double>(budget.samples);
  if (few && !SamplesRemoved(range.job, range.from_us)) {
    Result<UsageTable> table = UsageOfSamples(connection, range, budget, uses);
    if (table || table.error().code != Code::kInvalid) return table;
  }
  return UsageOfMeans(connection, range, devices, uses);
}

}  // namespace

Result<UsageTable> ReadUsage(Connection& connection, SeriesRange range, ReadBudget budget,
                             DeviceUses* uses) {
  range.filter.metrics = UsageMetrics();
  return ReadTable(connection, range, budget, 1, uses);
}

Status ReadUses(Connection& connection, SeriesRange range, std::vector<std::string> metrics,
                DeviceUses& uses) {
  constexpr double kDevices = 256;  // the cores of a large node, as a number of devices
  range.filter.metrics = std::move(metrics);
  const auto table = ReadTable(connection, range, {}, kDevices, &uses);
  return table ? Status() : table.error();
}

OrderedJson ToJson(const UsageRow& row) {
  return {
      {"node", row.node},        {"metric", row.metric},    {"unit", FindMetric(row.metric)->unit},
      {"count", row.count},      {"max", Rounded(row.max)}, {"p99", Rounded(row.p99)},
      {"p95", Rounded(row.p95)}, {"p90", Rounded(row.p90)}, {"p50", Rounded(row.p50)},
      {"min", Rounded(row.min)}};
}

}  // namespace stepscope
