#include "server/api/charts/chart.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/api/charts/gap.h"
#include "server/store/ticks/scaled_column.h"

namespace stepscope {

std::size_t Chart::MostBins(std::int64_t from_us, std::int64_t to_us) const {
  return static_cast<std::size_t>(std::max<std::int64_t>((to_us - from_us) / bin_us_ + 1, 0));
}

void Chart::Add(const std::string& node, TickTable table) {
  if (table.at_us.empty()) return;
  const auto at_us = std::make_shared<const std::vector<std::int64_t>>(std::move(table.at_us));
  const std::int64_t shortest_us = ShortestUs(*at_us);
  const std::size_t most_bins = std::min(MostBins(at_us->front(), at_us->back()), at_us->size());
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const SeriesName& name = table.series[column];
    Series& series = series_[{name.metric, node, name.device}];
    Column& values = table.columns[column];
    const bool fresh = series.bins.empty() && series.samples.empty();
    if (fresh && shortest_us >= bin_us_ && HasAny(values)) {  // a sample a bin
      const bool whole = values.present.empty();
      const std::int64_t between_us = whole ? shortest_us : ShortestUs(*at_us, values);
      series.samples = {at_us, std::move(values), between_us};
      continue;
    }
    Line& line = BinsOf(series);
    if (line.empty()) line.reserve(most_bins);
    AddSamples(*at_us, values, line);
  }
}

// Bins to add to: the samples become bins.
Chart::Line& Chart::BinsOf(Series& series) const {
  if (!series.samples.empty()) {
    const ChartSamples samples = std::exchange(series.samples, {});
    series.bins.reserve(samples.at_us->size());
    AddSamples(*samples.at_us, samples.column, series.bins);
  }
  return series.bins;
}

// Bins to read: bins of samples are made in `room`.
const Chart::Line& Chart::BinsOf(const Series& series, Line& room) const {
  if (series.samples.empty()) return series.bins;
  room.clear();
  AddSamples(*series.samples.at_us, series.samples.column, room);
  return room;
}

void Chart::AddSamples(const std::vector<std::int64_t>& times, const Column& column,
                       Line& line) const {
  const auto one = static_cast<double>(PowerOfTen(column.scale));
  Bin bin;
  std::int64_t end_us = INT64_MIN;  // the bin's
  for (std::size_t row = 0; row < times.size(); ++row) {
    if (!column.Has(row)) continue;
    const std::int64_t at_us = times[row];
    const double value = static_cast<double>(column.values[row]) / one;
    if (at_us < end_us) {
      bin.last_us = at_us;
      bin.count += 1;
      bin.sum += value;
      bin.least = std::min(bin.least, value);
      bin.most = std::max(bin.most, value);
      continue;
    }
    // The next bin mostly begins where the previous one ended; dividing takes longer than the rest.
    const bool follows = bin.count > 0 && at_us - end_us < bin_us_;
    if (bin.count > 0) Merge(line, bin);
    bin = {follows ? end_us : BinOf(at_us), at_us, at_us, 1, value, value, value};
    end_us = bin.at_us + bin_us_;
  }
  if (bin.count > 0) Merge(line, bin);
}

void Chart::Add(const std::string& node, const NodeRollup& rollup, std::int64_t rollup_bin_us,
                std::int64_t from_us, std::int64_t to_us) {
  const std::vector<std::int64_t>& times = rollup.bins.at_us;
  const auto first = std::ranges::lower_bound(times, from_us) - times.begin();
  const auto last = std::ranges::upper_bound(times, to_us) - times.begin();
  const auto from = static_cast<std::size_t>(first), to = static_cast<std::size_t>(last);
  constexpr std::size_t kTablesAtOnce = 4;  // bins that are reserved at the start
  std::vector<std::int64_t> begins(to);     // the chart's bins, by row
  for (std::size_t row = from; row < to; ++row) begins[row] = BinOf(times[row]);
  for (const RollupDevice& device : DevicesOf(rollup.bins)) {
    Line& line = BinsOf(series_[{rollup.metric, node, *device.device}]);
    if (line.empty()) line.reserve(std::min(MostBins(from_us, to_us), kTablesAtOnce * (to - from)));
    const ScaledColumn count(device.count), sum(device.sum), least(device.least),
        most(device.greatest);
    for (std::size_t row = from; row < to; ++row) {
      if (!device.count->Has(row)) continue;
      Merge(line, {begins[row], times[row], times[row] + rollup_bin_us - interval_us_, count[row],
                   sum[row], least[row], most[row]});
    }
  }
}

void Chart::Add(const FoldedRollup& rollup, std::int64_t from_us, std::int64_t to_us) {
  const RollupKey& key = rollup.key;
  Line& line = series_[{key.metric, "", ""}].bins;
  for (const FoldedBin& bin : rollup.bins) {
    if (bin.at_us < from_us || bin.at_us > to_us) continue;
    Merge(line, {BinOf(bin.at_us), bin.at_us, bin.at_us + key.bin_us - interval_us_, bin.count,
                 bin.sum, bin.least, bin.greatest, bin.weight});
  }
  std::size_t& series = folded_[key.metric];
  series = std::max(series, static_cast<std::size_t>(rollup.series));
}

std::size_t Chart::series() const {
  std::size_t all = series_.size() - folded_.size();
  for (const auto& [metric, series] : folded_) all += series;
  return all;
}

std::int64_t Chart::last_us() const {
  std::int64_t last_us = 0;
  for (const auto& [key, series] : series_) {
    if (!series.bins.empty()) last_us = std::max(last_us, series.bins.back().last_us);
    if (!series.samples.empty()) last_us = std::max(last_us, LastUs(series.samples));
  }
  return last_us;
}

void Chart::Unite(Bin& bin, const Bin& more) {
  bin.first_us = std::min(bin.first_us, more.first_us);
  bin.last_us = std::max(bin.last_us, more.last_us);
  bin.count += more.count;
  bin.sum += more.sum;
  bin.weight += more.weight;
  bin.least = std::min(bin.least, more.least);
  bin.most = std::max(bin.most, more.most);
}

// A sample nearly always goes into the last bin or after it.
void Chart::Merge(Line& line, const Bin& more) const {
  if (line.empty() || line.back().at_us < more.at_us) return line.push_back(more);
  if (line.back().at_us == more.at_us) return Unite(line.back(), more);
  auto bin = line.end();
  while (bin != line.begin() && std::prev(bin)->at_us >= more.at_us) --bin;
  if (bin == line.end() || bin->at_us != more.at_us) {
    line.insert(bin, more);
    return;
  }
  Unite(*bin, more);
}

// Adds a series to a fold, counting once in each of its bins. Both in the order of time.
Chart::Line Chart::WithMeans(const Line& fold, const Line& more) {
  Line both;
  both.reserve(std::max(fold.size(), more.size()));
  auto known = fold.begin();
  for (Bin bin : more) {
    bin.sum /= bin.count;
    bin.count = 1;
    while (known != fold.end() && known->at_us < bin.at_us) both.push_back(*known++);
    if (known != fold.end() && known->at_us == bin.at_us) Unite(bin, *known++);
    bin.weight = 1;
    both.push_back(bin);
  }
  both.insert(both.end(), known, fold.end());
  return both;
}

void Chart::AddFolded(const Chart& chart) {
  Line room;
  for (const auto& [key, series] : chart.series_) {
    const Line& line = BinsOf(series, room);
    if (line.empty()) continue;
    Line& known = series_[{key.metric, "", ""}].bins;
    known = WithMeans(known, line);
    ++folded_[key.metric];
  }
}

std::int64_t Chart::LeastGapUs(const Line& line) const {
  std::int64_t shortest_us = INT64_MAX;
  for (std::size_t i = 1; i < line.size(); ++i) {
    shortest_us = std::min(shortest_us, line[i].first_us - line[i - 1].last_us);
  }
  return stepscope::LeastGapUs(interval_us_, shortest_us);
}

std::vector<HeatRow> Chart::Means(const std::vector<std::int64_t>& times) const {
  std::vector<HeatRow> rows;
  Line room;
  for (const auto& [key, series] : series_) {
    const Line& line = BinsOf(series, room);
    if (line.empty()) continue;
    HeatRow row{key.node, key.device, {}};
    row.values.reserve(times.size());
    const std::int64_t least_gap_us = LeastGapUs(line);
    auto bin = line.begin();
    for (const std::int64_t at_us : times) {
      while (bin != line.end() && bin->at_us < at_us) ++bin;
      const bool here = bin != line.end() && bin->at_us == at_us;
      const bool between = !here && bin != line.begin() && bin != line.end() &&
                           bin->first_us - std::prev(bin)->last_us <= least_gap_us;
      const Bin* shown = here ? &*bin : between ? &*std::prev(bin) : nullptr;
      row.values.push_back(shown ? std::optional(shown->sum / shown->count) : std::nullopt);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace stepscope
