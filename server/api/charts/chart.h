#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/api/charts/chart_samples.h"
#include "server/api/charts/heat_matrix.h"
#include "server/edge/http/message.h"
#include "server/store/rollups/rollup_fold.h"
#include "server/store/ticks/tick_table.h"

namespace stepscope {

class Csv;

// The parts of each series that are written as text.
struct ChartText {
  bool runs = false;  // adjacent bins, in place of the time of each
  bool least = true, mean = true, most = true;
};

// The samples of a chart: for each series bins on a grid since the epoch, with least, mean and
// greatest value. A gap in the samples (gap.h) has one empty bin.
class Chart {
 public:
  Chart(std::int64_t bin_us, std::int64_t interval_us)
      : bin_us_(bin_us), interval_us_(interval_us) {}

  // Adds ticks of a node.
  void Add(const std::string& node, TickTable table);
  // Adds rollups of a metric of a node, within [from, to]. Their bins divide the chart's. Where
  // they come without least and greatest, the chart has none either.
  void Add(const std::string& node, const NodeRollup& rollup, std::int64_t rollup_bin_us,
           std::int64_t from_us, std::int64_t to_us);

  // Adds folded rollups of a metric, as a series of no node and no device.
  void Add(const FoldedRollup& rollup, std::int64_t from_us, std::int64_t to_us);

  std::size_t lines() const { return series_.size(); }
  std::size_t series() const;  // folded ones included
  std::int64_t interval_us() const { return interval_us_; }
  std::int64_t last_us() const;  // the last sample's of any series; 0 without one

  // Folds the series of another chart: one for each metric, of no node and no device. A bin has the
  // least and the greatest value of all series, and the sum of their means in this bin.
  void AddFolded(const Chart& chart);

  // Appends the series as objects of a list in JSON text, in the order of metric, node and device.
  // Folded ones have `sum` and `of`, too.
  void AppendTo(std::string& list, const ChartText& text = {}) const;

  // The series as a table: a row for each bin that is no gap; values that are not wanted are empty.
  Reply ToCsv(const std::string& file_name, const ChartText& text) const;

  // The means of all series (of one metric, in no order) in bins that begin at these times. A bin
  // without samples has the mean before it, where that is no gap.
  std::vector<HeatRow> Means(const std::vector<std::int64_t>& times) const;

  std::int64_t BinOf(std::int64_t at_us) const { return at_us - at_us % bin_us_; }

 private:
  struct Bin {
    std::int64_t at_us = 0, first_us = 0, last_us = 0;  // its begin, and its samples
    double count = 0, sum = 0, least = 0, most = 0;
    double weight = 1;  // in folded bins: sum / weight is the sum of the series' means
  };
  using Line = std::vector<Bin>;  // in the order of time
  struct Series {
    Line bins;
    ChartSamples samples;  // in place of the bins, until there is more to add
  };
  struct SeriesKey {
    std::string metric, node, device;
    auto operator<=>(const SeriesKey&) const = default;
  };
  void AddSamples(const std::vector<std::int64_t>& times, const Column& column, Line& line) const;
  Line& BinsOf(Series& series) const;
  const Line& BinsOf(const Series& series, Line& room) const;
  std::size_t MostBins(std::int64_t from_us, std::int64_t to_us) const;
  static void Unite(Bin& bin, const Bin& more);
  void Merge(Line& line, const Bin& more) const;
  static Line WithMeans(const Line& fold, const Line& more);
  std::int64_t LeastGapUs(const Line& line) const;
  template <typename Take>
  void ForEachEntry(const Line& line, Take take) const;
  template <typename Take, typename Gap>
  void ForEachRun(const ChartSamples& samples, Take take, Gap gap) const;
  static bool HaveSameTimes(const Series& series, const Series& other);
  struct Columns;
  void Write(const SeriesKey& key, const Series& series, Columns& columns, std::string& list) const;
  void WriteRows(const SeriesKey& key, const Series& series, const ChartText& text, Csv& csv) const;

  std::int64_t bin_us_, interval_us_;
  std::map<SeriesKey, Series> series_;
  std::map<std::string, std::size_t> folded_;  // the number of series that became one, by metric
};

}  // namespace stepscope
