#include "server/api/chart.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/model/metric.h"
#include "server/api/gap.h"
#include "server/api/json_text.h"
#include "server/store/reals.h"

namespace stepscope {

std::size_t Chart::MostBins(const std::vector<std::int64_t>& at_us) const {
  if (at_us.empty()) return 0;
  const auto wide = static_cast<std::size_t>((at_us.back() - at_us.front()) / bin_us_ + 1);
  return std::min(wide, at_us.size());
}

void Chart::Add(const std::string& node, const TickTable& table) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const SeriesName& name = table.series[column];
    Line& line = series_[{name.metric, node, name.device}];
    if (line.empty()) line.reserve(MostBins(table.at_us));
    AddSamples(table.at_us, table.columns[column], line);
  }
}

void Chart::AddSamples(const std::vector<std::int64_t>& times, const Column& column,
                       Line& line) const {
  const auto one = static_cast<double>(PowerOfTen(column.scale));
  Bin bin;
  std::int64_t end_us = INT64_MIN;  // of the bin
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
    // The next bin mostly begins where the one before ended; dividing takes longer than the rest.
    const bool follows = bin.count > 0 && at_us - end_us < bin_us_;
    if (bin.count > 0) Merge(line, bin);
    bin = {follows ? end_us : BinOf(at_us), at_us, at_us, 1, value, value, value};
    end_us = bin.at_us + bin_us_;
  }
  if (bin.count > 0) Merge(line, bin);
}

void Chart::Add(const std::string& node, const NodeRollup& rollup, std::int64_t rollup_bin_us,
                std::int64_t from_us, std::int64_t to_us) {
  const TickTable& bins = rollup.bins;
  std::vector<std::int64_t> begins;  // of the bins of the chart, by row
  for (const std::int64_t at_us : bins.at_us) begins.push_back(BinOf(at_us));
  for (const RollupDevice& device : DevicesOf(bins)) {
    Line& line = series_[{rollup.metric, node, *device.device}];
    const Reals count(device.count), sum(device.sum), least(device.least), most(device.greatest);
    for (std::size_t row = 0; row < bins.at_us.size(); ++row) {
      const std::int64_t at_us = bins.at_us[row];
      if (!device.count->Has(row) || at_us < from_us || at_us > to_us) continue;
      Merge(line, {begins[row], at_us, at_us + rollup_bin_us - interval_us_, count[row], sum[row],
                   least[row], most[row]});
    }
  }
}

void Chart::Add(const FoldedRollup& rollup, std::int64_t from_us, std::int64_t to_us) {
  const RollupKey& key = rollup.key;
  Line& line = series_[{key.metric, "", ""}];
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

void Chart::Unite(Bin& bin, const Bin& more) {
  bin.first_us = std::min(bin.first_us, more.first_us);
  bin.last_us = std::max(bin.last_us, more.last_us);
  bin.count += more.count;
  bin.sum += more.sum;
  bin.weight += more.weight;
  bin.least = std::min(bin.least, more.least);
  bin.most = std::max(bin.most, more.most);
}

// Nearly always into the last bin or behind it.
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

// A fold and one series more, which counts once in each of its bins. Both in the order of time.
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

Chart Chart::Folded() const {
  Chart fold(bin_us_, interval_us_);
  for (const auto& [place, line] : series_) {
    if (line.empty()) continue;
    Line& known = fold.series_[{place.metric, "", ""}];
    known = WithMeans(known, line);
    ++fold.folded_[place.metric];
  }
  return fold;
}

std::int64_t Chart::LeastGapUs(const Line& line) const {
  std::int64_t shortest_us = INT64_MAX;
  for (std::size_t i = 1; i < line.size(); ++i) {
    shortest_us = std::min(shortest_us, line[i].first_us - line[i - 1].last_us);
  }
  return stepscope::LeastGapUs(interval_us_, shortest_us);
}

// take(time, bin) for each bin, and with null for the empty one in each gap.
template <typename Take>
void Chart::ForEachEntry(const Line& line, Take take) const {
  const std::int64_t least_gap_us = LeastGapUs(line);
  const Bin* before = nullptr;
  for (const Bin& bin : line) {
    const bool gap = before != nullptr && bin.first_us - before->last_us > least_gap_us &&
                     bin.at_us - before->at_us > bin_us_;
    if (gap) take(before->at_us + bin_us_, nullptr);
    take(bin.at_us, &bin);
    before = &bin;
  }
}

// All columns in one pass, since the bins of a long line do not fit into the processor's cache.
// Where each bin is one sample, its least, mean and greatest value are written once.
struct Chart::Columns {
  std::string least, mean, most, sum;

  void Read(const Chart& chart, const Line& line, bool samples, bool folded,
            std::string& times_us) {
    for (std::string* column : {&least, &mean, &most, &sum}) column->assign(1, '[');
    NumberList times(times_us), lows(least), means(mean), highs(most), sums(sum);
    chart.ForEachEntry(line, [&](std::int64_t at_us, const Bin* bin) {
      times.Int(at_us);
      bin ? lows.Real(bin->least) : lows.Null();
      if (samples) return;
      bin ? means.Real(bin->sum / bin->count) : means.Null();
      bin ? highs.Real(bin->most) : highs.Null();
      if (folded) bin ? sums.Real(bin->sum / bin->weight) : sums.Null();
    });
  }
};

void Chart::Write(const Place& place, const Line& line, Columns& columns, std::string& list) const {
  const Metric* metric = FindMetric(place.metric);
  const auto fold = folded_.find(place.metric);
  const bool folded = fold != folded_.end();
  OrderedJson head = {{"metric", place.metric},
                      {"node", place.node},
                      {"device", place.device},
                      {"unit", metric ? metric->unit : ""}};
  if (folded) head["of"] = fold->second;
  OpenObject(list, Dump(head));
  OpenList(list, "times_us");
  const bool samples =
      !folded && std::ranges::all_of(line, [](const Bin& bin) { return bin.count == 1; });
  columns.Read(*this, line, samples, folded, list);
  list.append("],\"min\":").append(columns.least);
  list.append("],\"mean\":").append(samples ? columns.least : columns.mean);
  list.append("],\"max\":").append(samples ? columns.least : columns.most);
  if (folded) list.append("],\"sum\":").append(columns.sum);
  list += "]}";
}

void Chart::AppendTo(std::string& list) const {
  constexpr std::size_t kTextOfBin = 48;  // bytes: a time, and three numbers of some digits
  std::size_t bins = 0;
  for (const auto& [place, line] : series_) bins += line.size();
  list.reserve(list.size() + bins * kTextOfBin);
  Columns columns;  // one for all lines: their memory is kept
  for (const auto& [place, line] : series_) {
    if (!line.empty()) Write(place, line, columns, list);
  }
}

std::vector<HeatRow> Chart::Means(const std::vector<std::int64_t>& times) const {
  std::vector<HeatRow> rows;
  for (const auto& [place, line] : series_) {
    if (line.empty()) continue;
    HeatRow row{place.node, place.device, {}};
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
