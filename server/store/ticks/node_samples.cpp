#include "server/store/ticks/node_samples.h"

#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "server/store/ticks/tick_batches.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {
namespace {

// At 2 Hz as much as is read at once anyway.
constexpr std::size_t kRowsAtOnce = 30'000;

using SeriesByName = std::map<SeriesName, SampleSeries>;

void Append(const TickTable& table, std::size_t i, SampleSeries& series) {
  const Column& column = table.columns[i];
  // Uses the largest scale at which the largest values fit, as JoinTicks does.
  std::uint8_t scale = std::max(column.scale, series.scale);
  scale = ScaleThatFits(series.values, series.scale, scale);
  scale = ScaleThatFits(column.values, column.scale, scale);
  if (scale != series.scale) {
    for (std::int64_t& value : series.values) value = Rescaled(value, series.scale, scale);
    series.scale = scale;
  }
  for (std::size_t row = 0; row < table.at_us.size(); ++row) {
    if (!column.Has(row)) continue;
    series.at_us.push_back(table.at_us[row]);
    series.values.push_back(Rescaled(column.values[row], column.scale, series.scale));
  }
}

Status Collect(const TickTable& table, ReadBudget& budget, SeriesByName& found) {
  for (std::size_t i = 0; i < table.series.size(); ++i) {
    const SeriesName& name = table.series[i];
    const auto [entry, fresh] =
        found.try_emplace(name, SampleSeries{name.metric, name.device, 0, {}, {}});
    if (fresh && budget.series-- == 0) {
      return Invalid("more series than one answer may have; choose metrics, a node or a device");
    }
    const std::size_t before = entry->second.values.size();
    Append(table, i, entry->second);
    const std::size_t more = entry->second.values.size() - before;
    if (more > budget.samples) {
      return Invalid(
          "more samples than one answer may be made of; ask for a shorter range, one metric, one "
          "node or one device");
    }
    budget.samples -= more;
  }
  return {};
}

}  // namespace

Result<std::vector<SampleSeries>> ReadSamples(Connection& connection, TickQuery query,
                                              ReadBudget& budget) {
  SeriesByName found;
  query.most_rows = kRowsAtOnce;
  query.values_only = true;
  const Status read = ForEachTickBatch(connection, query, INT64_MAX, [&](const TickTable& table) {
    return Collect(table, budget, found);
  });
  if (!read) return read.error();
  std::vector<SampleSeries> list;
  for (auto& [name, series] : found) {
    if (!series.values.empty()) list.push_back(std::move(series));
  }
  return list;
}

}  // namespace stepscope
