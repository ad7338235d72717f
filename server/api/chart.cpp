#include "server/api/chart.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/model/metric.h"
#include "server/api/json_text.h"

namespace stepscope {

void Chart::Add(const std::string& node, const TickTable& table) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const SeriesName& name = table.series[column];
    const Column& values = table.columns[column];
    Line& line = series_[{name.metric, node, name.device}];
    for (std::size_t row = 0; row < table.at_us.size(); ++row) {
      if (!values.Has(row)) continue;
      const std::int64_t at_us = table.at_us[row];
      const double value = values.At(row);
      Merge(line, {BinOf(at_us), at_us, at_us, 1, value, value, value});
    }
  }
}

void Chart::Add(const std::string& node, const NodeRollup& rollup, std::int64_t rollup_bin_us,
                std::int64_t from_us, std::int64_t to_us) {
  const TickTable& bins = rollup.bins;
  for (const RollupDevice& device : DevicesOf(bins)) {
    Line& line = series_[{rollup.metric, node, *device.device}];
    for (std::size_t row = 0; row < bins.at_us.size(); ++row) {
      const std::int64_t at_us = bins.at_us[row];
      if (!device.count->Has(row) || at_us < from_us || at_us > to_us) continue;
      Merge(line, {BinOf(at_us), at_us, at_us + rollup_bin_us - interval_us_, device.count->At(row),
                   device.sum->At(row), device.least->At(row), device.greatest->At(row)});
    }
  }
}

// Nearly always into the last bin or behind it.
void Chart::Merge(Line& line, const Bin& more) const {
  auto bin = line.end();
  while (bin != line.begin() && std::prev(bin)->at_us >= more.at_us) --bin;
  if (bin == line.end() || bin->at_us != more.at_us) {
    line.insert(bin, more);
    return;
  }
  bin->first_us = std::min(bin->first_us, more.first_us);
  bin->last_us = std::max(bin->last_us, more.last_us);
  bin->count += more.count;
  bin->sum += more.sum;
  bin->least = std::min(bin->least, more.least);
  bin->most = std::max(bin->most, more.most);
}

void Chart::Write(const Place& place, const Line& line, std::string& out) const {
  std::string times, least, mean, most;
  const Bin* before = nullptr;
  for (const Bin& bin : line) {
    if (before && bin.first_us - before->last_us > 2 * interval_us_ &&
        bin.at_us - before->at_us > bin_us_) {
      AppendInt(times, before->at_us + bin_us_);
      for (std::string* values : {&least, &mean, &most}) AppendNull(*values);
    }
    AppendInt(times, bin.at_us);
    AppendReal(least, bin.least);
    AppendReal(mean, bin.sum / bin.count);
    AppendReal(most, bin.most);
    before = &bin;
  }
  const Metric* metric = FindMetric(place.metric);
  const OrderedJson head = {{"metric", place.metric},
                            {"node", place.node},
                            {"device", place.device},
                            {"unit", metric ? metric->unit : ""}};
  out += WithMembers(Dump(head), {{"times_us", "[" + times + "]"},
                                  {"min", "[" + least + "]"},
                                  {"mean", "[" + mean + "]"},
                                  {"max", "[" + most + "]"}});
}

std::string Chart::ToText() const {
  std::string text;
  for (const auto& [place, line] : series_) {
    if (line.empty()) continue;
    if (!text.empty()) text += ',';
    Write(place, line, text);
  }
  return "[" + text + "]";
}

std::vector<HeatRow> Chart::Means(const std::vector<std::int64_t>& times) const {
  std::vector<HeatRow> rows;
  for (const auto& [place, line] : series_) {
    if (line.empty()) continue;
    HeatRow row{place.node, place.device, {}};
    auto bin = line.begin();
    for (const std::int64_t at_us : times) {
      while (bin != line.end() && bin->at_us < at_us) ++bin;
      const bool here = bin != line.end() && bin->at_us == at_us;
      const bool between = !here && bin != line.begin() && bin != line.end() &&
                           bin->first_us - std::prev(bin)->last_us <= 2 * interval_us_;
      const Bin* shown = here ? &*bin : between ? &*std::prev(bin) : nullptr;
      row.values.push_back(shown ? std::optional(shown->sum / shown->count) : std::nullopt);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace stepscope
