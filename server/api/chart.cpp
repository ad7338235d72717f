#include "server/api/chart.h"

#include <algorithm>

#include "core/model/metric.h"
#include "server/api/answer.h"

namespace stepscope {

void Chart::Add(const std::string& node, const TickTable& table) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const SeriesName& name = table.series[column];
    const Column& values = table.columns[column];
    Line& line = series_[{name.metric, node, name.device}];
    for (std::size_t row = 0; row < table.at_us.size(); ++row) {
      if (values.Has(row)) Add(line, table.at_us[row], values.At(row));
    }
  }
}

void Chart::Add(Line& line, std::int64_t at_us, double value) const {
  const std::int64_t begin_us = BinOf(at_us);
  if (line.bins.empty() || line.bins.back().at_us != begin_us) {
    const bool gap = !line.bins.empty() && at_us - line.last_us > 2 * interval_us_ &&
                     begin_us - line.bins.back().at_us > bin_us_;
    if (gap) line.bins.push_back({.at_us = line.bins.back().at_us + bin_us_});
    line.bins.push_back({.at_us = begin_us, .count = 0, .sum = 0, .least = value, .most = value});
  }
  Bin& bin = line.bins.back();
  ++bin.count;
  bin.sum += value;
  bin.least = std::min(bin.least, value);
  bin.most = std::max(bin.most, value);
  line.last_us = at_us;
}

OrderedJson Chart::ToJson(const Place& place, const Line& line) {
  OrderedJson times = OrderedJson::array(), least = times, mean = times, most = times;
  for (const Bin& bin : line.bins) {
    const bool gap = bin.count == 0;
    times.push_back(bin.at_us);
    least.push_back(gap ? OrderedJson(nullptr) : OrderedJson(Rounded(bin.least)));
    mean.push_back(gap ? OrderedJson(nullptr) : OrderedJson(Rounded(bin.sum / double(bin.count))));
    most.push_back(gap ? OrderedJson(nullptr) : OrderedJson(Rounded(bin.most)));
  }
  const Metric* metric = FindMetric(place.metric);
  return {{"metric", place.metric},       {"node", place.node},
          {"device", place.device},       {"unit", metric ? metric->unit : ""},
          {"times_us", std::move(times)}, {"min", std::move(least)},
          {"mean", std::move(mean)},      {"max", std::move(most)}};
}

OrderedJson Chart::ToJson() const {
  OrderedJson list = OrderedJson::array();
  for (const auto& [place, line] : series_) {
    if (!line.bins.empty()) list.push_back(ToJson(place, line));
  }
  return list;
}

}  // namespace stepscope
