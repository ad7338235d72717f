#include "server/store/rollups/roll_up.h"

#include <algorithm>

#include "server/store/ticks/join_ticks.h"

namespace stepscope {
namespace {

__extension__ using Wide = __int128;  // holds the sum of a bin's values

struct RollupBins {
  Column count, least, greatest;
  std::vector<Wide> sums;

  explicit RollupBins(std::uint8_t scale) { least.scale = greatest.scale = scale; }

  void Begin() {
    for (Column* column : {&count, &least, &greatest}) {
      column->values.push_back(0);
      column->present.push_back(0);
    }
    sums.push_back(0);
  }
  void Add(std::int64_t value) {
    const bool first = count.present.back() == 0;
    std::int64_t& low = least.values.back();
    std::int64_t& high = greatest.values.back();
    low = first ? value : std::min(low, value);
    high = first ? value : std::max(high, value);
    sums.back() += value;
    ++count.values.back();
    for (Column* column : {&count, &least, &greatest}) column->present.back() = 1;
  }
};

// Chooses the scale of the values, or the next one at which the largest sum fits.
Column SumOf(const RollupBins& bins) {
  Column sum{.scale = bins.least.scale, .values = {}, .present = bins.count.present};
  Wide most = 0, factor = 1;
  for (const Wide total : bins.sums) most = std::max(most, total < 0 ? -total : total);
  for (; sum.scale > 0 && most / factor > INT64_MAX; --sum.scale) factor *= 10;
  for (const Wide total : bins.sums) {
    sum.values.push_back(
        static_cast<std::int64_t>(std::clamp<Wide>(total / factor, INT64_MIN, INT64_MAX)));
  }
  return sum;
}

RollupBins BinsOf(const TickTable& block, const Column& column,
                  const std::vector<std::int64_t>& begins, std::int64_t bin_us) {
  RollupBins bins(column.scale);
  std::size_t row = 0;
  for (const std::int64_t begin_us : begins) {
    bins.Begin();
    for (; row < block.at_us.size() && block.at_us[row] < begin_us + bin_us; ++row) {
      if (column.Has(row)) bins.Add(column.values[row]);
    }
  }
  return bins;
}

void Put(TickTable& table, const char* what, const std::string& device, Column column) {
  if (std::ranges::count(column.present, 0) == 0) column.present.clear();
  table.series.push_back({what, device});
  table.columns.push_back(std::move(column));
}

// Adds two values of a bin; of least and greatest it takes one.
std::int64_t Added(const std::string& what, std::int64_t a, std::int64_t b) {
  if (what == kLeast) return std::min(a, b);
  if (what == kGreatest) return std::max(a, b);
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? INT64_MIN : INT64_MAX;
}

const Column* Find(const TickTable& table, const SeriesName& name) {
  const auto found = std::ranges::lower_bound(table.series, name);
  if (found == table.series.end() || *found != name) return nullptr;
  return &table.columns[static_cast<std::size_t>(found - table.series.begin())];
}

}  // namespace

const RollupLevel* LevelFor(std::int64_t bin_us) {
  const RollupLevel* best = nullptr;
  for (const RollupLevel& level : kRollupLevels) {
    if (level.bin_us <= bin_us) best = &level;
  }
  return best;
}

TickTable RollUp(const TickTable& block, std::int64_t bin_us) {
  TickTable table;
  for (const std::int64_t at_us : block.at_us) {
    const std::int64_t begin_us = at_us - at_us % bin_us;
    if (table.at_us.empty() || table.at_us.back() != begin_us) table.at_us.push_back(begin_us);
  }
  std::vector<RollupBins> devices;
  for (const Column& column : block.columns) {
    devices.push_back(BinsOf(block, column, table.at_us, bin_us));
  }
  const auto put = [&](const char* what, auto column_of) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      Put(table, what, block.series[i].device, column_of(devices[i]));
    }
  };
  put(kCount, [](const RollupBins& bins) { return bins.count; });
  put(kGreatest, [](const RollupBins& bins) { return bins.greatest; });
  put(kLeast, [](const RollupBins& bins) { return bins.least; });
  put(kSum, SumOf);
  return table;
}

TickTable AddBins(const TickTable& bins, const TickTable& more) {
  TickTable all = JoinTicks({bins, more}, {});
  if (all.at_us.size() == bins.at_us.size() + more.at_us.size()) return all;  // nearly always
  for (std::size_t i = 0; i < all.series.size(); ++i) {
    const Column* const a = Find(bins, all.series[i]);
    const Column* const b = Find(more, all.series[i]);
    if (!a || !b) continue;
    Column& column = all.columns[i];
    for (std::size_t row_b = 0; row_b < more.at_us.size(); ++row_b) {
      const auto at = [&](const TickTable& table) {
        return static_cast<std::size_t>(std::ranges::lower_bound(table.at_us, more.at_us[row_b]) -
                                        table.at_us.begin());
      };
      const std::size_t row_a = at(bins);
      const bool known = row_a < bins.at_us.size() && bins.at_us[row_a] == more.at_us[row_b];
      if (!known || !a->Has(row_a) || !b->Has(row_b)) continue;
      column.values[at(all)] =
          Added(all.series[i].metric, Rescaled(a->values[row_a], a->scale, column.scale),
                Rescaled(b->values[row_b], b->scale, column.scale));
    }
  }
  return all;
}

// Series are sorted by name, so the columns of a device are as many apart as there are devices.
std::vector<RollupDevice> DevicesOf(const TickTable& bins) {
  const auto devices =
      static_cast<std::size_t>(std::ranges::count(bins.series, kCount, &SeriesName::metric));
  const bool all = bins.columns.size() == 4 * devices;
  const std::vector<Column>& columns = bins.columns;
  std::vector<RollupDevice> list;
  for (std::size_t i = 0; i < devices; ++i) {
    list.push_back({&bins.series[i].device, &columns[i], all ? &columns[2 * devices + i] : nullptr,
                    all ? &columns[devices + i] : nullptr, &columns[columns.size() - devices + i]});
  }
  return list;
}

}  // namespace stepscope
