#include "server/compact/new_blocks.h"

#include "server/store/ticks/join_ticks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace stepscope {
namespace {

constexpr std::size_t kMostRolledDevices = 2'000;

// The rows [from, to) of each block window.
struct WindowRows {
  std::int64_t window_us = 0;
  std::size_t from = 0, to = 0;
};

std::vector<WindowRows> PartsOf(const TickTable& ticks) {
  std::vector<WindowRows> parts;
  for (std::size_t row = 0; row < ticks.at_us.size(); ++row) {
    const std::int64_t window_us = BlockWindowOf(ticks.at_us[row]);
    if (parts.empty() || parts.back().window_us != window_us)
      parts.push_back({window_us, row, row});
    parts.back().to = row + 1;
  }
  return parts;
}

// The series [first, last) of a metric.
struct MetricColumns {
  std::string metric;
  std::size_t first = 0, last = 0;
};

// Puts the times of all ticks first, which belong to no series.
std::vector<MetricColumns> MetricsOf(const TickTable& ticks) {
  std::vector<MetricColumns> metrics{{kAllTicks, 0, 0}};
  for (std::size_t i = 0; i < ticks.series.size(); ++i) {
    const std::string& metric = ticks.series[i].metric;
    if (i == 0 || metrics.back().metric != metric) metrics.push_back({metric, i, i});
    metrics.back().last = i + 1;
  }
  return metrics;
}

// The columns of a joined table, with the times.
std::size_t ColumnsTogether(const TickTable& a, const TickTable& b) {
  std::vector<SeriesName> series;
  std::ranges::set_union(a.series, b.series, std::back_inserter(series));
  return series.size() + 1;
}

// Whether a joined table stays within the bounds of a stored table.
bool FitTogether(const TickTable& a, const TickTable& b) {
  const std::size_t columns = ColumnsTogether(a, b);
  return columns <= kBlockLimits.columns &&
         (a.at_us.size() + b.at_us.size()) * columns <= 2 * kBlockLimits.cells;
}

// Removes the last devices that are too many for one block beside the stored ones. Returns how many
// rows lack a value by that.
std::size_t LeaveOutDevices(TickTable& fresh, const std::vector<SeriesName>& stored) {
  TickTable kept{.at_us = fresh.at_us, .series = {}, .columns = {}};
  std::size_t columns = stored.size() + 1;
  for (std::size_t i = 0; i < fresh.series.size(); ++i) {
    if (!std::ranges::binary_search(stored, fresh.series[i]) && ++columns > kBlockLimits.columns) {
      continue;
    }
    kept.series.push_back(fresh.series[i]);
    kept.columns.push_back(std::move(fresh.columns[i]));
  }
  const std::size_t rows = fresh.at_us.size();
  const bool all = kept.series.size() == fresh.series.size();
  if (!all && kept.series.empty()) kept.at_us.clear();
  fresh = all ? std::move(kept) : SliceTicks(kept, 0, kept.series.size(), 0, kept.at_us.size());
  return all ? 0 : rows;
}

std::size_t MostRows(const TickTable& table) {
  return std::min(kBlockLimits.rows, kBlockLimits.cells / (table.columns.size() + 1));
}

TickTable WithoutTimes(TickTable table, std::int64_t from_us, std::int64_t to_us) {
  const auto first = std::ranges::lower_bound(table.at_us, from_us) - table.at_us.begin();
  const auto last = std::ranges::lower_bound(table.at_us, to_us) - table.at_us.begin();
  const auto cut = [&](auto& values) {
    if (!values.empty()) values.erase(values.begin() + first, values.begin() + last);
  };
  cut(table.at_us);
  for (Column& column : table.columns) {
    cut(column.values);
    cut(column.present);
  }
  return table;
}

// Removes values that the other table has.
TickTable Beyond(TickTable table, const TickTable& known) {
  for (std::size_t i = 0; i < table.series.size(); ++i) {
    const auto same = std::ranges::lower_bound(known.series, table.series[i]);
    if (same == known.series.end() || *same != table.series[i]) continue;
    const Column& there = known.columns[static_cast<std::size_t>(same - known.series.begin())];
    Column& column = table.columns[i];
    if (column.present.empty()) column.present.assign(table.at_us.size(), 1);
    for (std::size_t row = 0; row < table.at_us.size(); ++row) {
      const auto at = std::ranges::lower_bound(known.at_us, table.at_us[row]);
      if (at == known.at_us.end() || *at != table.at_us[row]) continue;
      if (there.Has(static_cast<std::size_t>(at - known.at_us.begin()))) column.present[row] = 0;
    }
  }
  return SliceTicks(table, 0, table.series.size(), 0, table.at_us.size());
}

Merged MergeInto(StoredBlock& block, StoredBlock stored) {
  block.clock_suspect = block.clock_suspect || stored.clock_suspect;
  if (!FitTogether(block.table, stored.table)) {
    const std::size_t rows = block.table.at_us.size();
    block.table = std::move(stored.table);
    return {.left_out = rows};
  }
  const std::size_t rows = block.table.at_us.size() + stored.table.at_us.size();
  std::vector<TickTable> tables;
  tables.push_back(std::move(stored.table));
  tables.push_back(std::move(block.table));
  block.table = JoinTicks(std::move(tables), {});
  const bool ticks = block.key.metric == kAllTicks;
  return {.joined = ticks ? rows - block.table.at_us.size() : 0};
}

// A metric with thousands of devices gets no rollups: their rows could not be read again.
bool HasRollups(const StoredBlock& block) {
  return block.key.metric != kAllTicks && block.table.columns.size() <= kMostRolledDevices;
}

RollupKey RollupOf(const BlockKey& block, const RollupLevel& level) {
  return {level.bin_us, block.metric, block.window_us - block.window_us % level.chunk_us};
}

TickTable JoinBins(std::vector<TickTable> tables) {
  TickTable joined = std::move(tables.front());
  for (std::size_t i = 1; i < tables.size(); ++i) {
    if (FitTogether(joined, tables[i])) joined = AddBins(joined, tables[i]);
  }
  return joined;
}

}  // namespace

Status CutBlocks(const TickTable& ticks, bool clock_suspect, std::size_t most,
                 const TakeBlocks& take) {
  const std::vector<WindowRows> parts = PartsOf(ticks);
  std::vector<StoredBlock> blocks;
  std::size_t series = 0;
  for (const MetricColumns& columns : MetricsOf(ticks)) {
    for (const WindowRows& part : parts) {
      TickTable table = SliceTicks(ticks, columns.first, columns.last, part.from, part.to);
      if (table.at_us.empty()) continue;
      const std::size_t more = std::max<std::size_t>(table.series.size(), 1);
      if (!blocks.empty() && series + more > most) {
        if (Status taken = take(std::exchange(blocks, {})); !taken) return taken;
        series = 0;
      }
      series += more;
      blocks.push_back({{part.window_us, columns.metric}, clock_suspect, std::move(table)});
    }
  }
  return blocks.empty() ? Status() : take(std::move(blocks));
}

std::vector<StoredBlock> LateRows(const std::vector<StoredBlock>& fresh,
                                  const std::vector<StoredBlock>& stored,
                                  std::int64_t samples_from_us) {
  std::map<BlockKey, const TickTable*> known;
  for (const StoredBlock& block : stored) known[block.key] = &block.table;
  std::vector<StoredBlock> late;
  for (const StoredBlock& block : fresh) {
    if (block.key.window_us >= samples_from_us || block.key.metric == kAllTicks) continue;
    late.push_back(block);
    const auto found = known.find(block.key);
    if (found != known.end()) late.back().table = Beyond(block.table, *found->second);
  }
  return late;
}

Merged MergeBlocks(std::vector<StoredBlock>& fresh, std::vector<StoredBlock> stored) {
  std::map<BlockKey, StoredBlock*> known;
  for (StoredBlock& block : stored) known[block.key] = &block;
  Merged merged;
  for (StoredBlock& block : fresh) {
    const auto found = known.find(block.key);
    const bool is_known = found != known.end();
    merged.left_out += LeaveOutDevices(
        block.table, is_known ? found->second->table.series : std::vector<SeriesName>{});
    if (is_known) {
      const Merged part = MergeInto(block, std::move(*found->second));
      merged.left_out += part.left_out;
      merged.joined += part.joined;
    }
    const std::size_t rows = block.table.at_us.size(), most = MostRows(block.table);
    if (rows <= most) continue;
    merged.left_out += rows - most;
    block.table = SliceTicks(block.table, 0, block.table.series.size(), 0, most);
  }
  return merged;
}

std::vector<RollupKey> RollupsOf(const std::vector<StoredBlock>& blocks) {
  std::set<RollupKey> keys;
  for (const StoredBlock& block : blocks) {
    if (!HasRollups(block)) continue;
    for (const RollupLevel& level : kRollupLevels) {
      keys.insert(RollupOf(block.key, level));
    }
  }
  return {keys.begin(), keys.end()};
}

std::vector<StoredRollup> RollUpBlocks(const std::vector<StoredBlock>& blocks,
                                       std::vector<StoredRollup> stored,
                                       const std::vector<StoredBlock>& late) {
  std::set<BlockKey> added;
  for (const StoredBlock& block : late) added.insert(block.key);
  std::map<RollupKey, std::vector<TickTable>> rows;
  for (StoredRollup& rollup : stored) {
    TickTable bins = std::move(rollup.bins);
    for (const StoredBlock& block : blocks) {
      if (block.key.metric != rollup.key.metric || added.contains(block.key)) continue;
      bins =
          WithoutTimes(std::move(bins), block.key.window_us, block.key.window_us + kBlockWindowUs);
    }
    rows[rollup.key].push_back(std::move(bins));
  }
  const auto put = [&](const StoredBlock& block) {
    for (const RollupLevel& level : kRollupLevels) {
      rows[RollupOf(block.key, level)].push_back(RollUp(block.table, level.bin_us));
    }
  };
  std::set<BlockKey> with_rollups;
  for (const StoredBlock& block : blocks) {
    if (!HasRollups(block)) continue;
    with_rollups.insert(block.key);
    if (!added.contains(block.key)) put(block);
  }
  for (const StoredBlock& block : late) {
    if (with_rollups.contains(block.key)) put(block);
  }
  std::vector<StoredRollup> rollups;
  for (auto& [key, tables] : rows) rollups.push_back({key, JoinBins(std::move(tables))});
  return rollups;
}

}  // namespace stepscope
