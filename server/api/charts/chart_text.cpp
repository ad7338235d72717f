
#include <algorithm>
#include <span>

#include "core/base/json.h"
#include "core/model/metric.h"
#include "server/api/charts/chart.h"
#include "server/api/charts/gap.h"
#include "server/api/http/csv.h"
#include "server/api/http/json_text.h"

namespace stepscope {
namespace {

// Writes the times of bins, as a member of an open object: one by one, or as runs of adjacent bins,
// [begin of the first, number].
class TimeList {
 public:
  TimeList(std::string& object, std::int64_t bin_us, bool runs)
      : runs_(runs),
        bin_us_(bin_us),
        list_((OpenList(object, runs ? "runs" : "times_us"), object)) {}
  ~TimeList() { EndRun(); }

  void Add(std::int64_t at_us, std::size_t bins = 1) {
    if (runs_) return AddRun(at_us, static_cast<std::int64_t>(bins));
    for (; bins > 0; --bins, at_us += bin_us_) list_.Int(at_us);
  }

 private:
  void AddRun(std::int64_t at_us, std::int64_t bins) {
    if (bins_ == 0 || at_us != begin_us_ + bins_ * bin_us_) {
      EndRun();
      begin_us_ = at_us;
    }
    bins_ += bins;
  }
  void EndRun() {
    if (bins_ > 0) list_.Pair(begin_us_, bins_);
    bins_ = 0;
  }

  const bool runs_;
  const std::int64_t bin_us_;
  std::int64_t begin_us_ = 0, bins_ = 0;
  NumberList list_;
};

}  // namespace

// Calls take(time, bin) for each bin, and with null for the empty bin in each gap.
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

// Calls take(time, values) for samples in adjacent bins, the first of which begins then, and
// gap(time) for the empty bin in each gap.
template <typename Take, typename Gap>
void Chart::ForEachRun(const ChartSamples& samples, Take take, Gap gap) const {
  const std::int64_t least_gap_us = stepscope::LeastGapUs(interval_us_, samples.shortest_us);
  const std::span<const std::int64_t> times = *samples.at_us, values = samples.column.values;
  const std::int64_t width_us = bin_us_;  // by value: `take` writes text, which might be anything
  std::int64_t before_us = 0, end_us = INT64_MIN;  // the sample before, and the end of its bin
  for (std::size_t row = 0; row < times.size();) {
    if (!samples.column.Has(row)) {
      ++row;
      continue;
    }
    const std::size_t first = row;
    const std::int64_t begin_us = BinOf(times[first]);
    const bool follows = end_us == begin_us || end_us == INT64_MIN;
    if (!follows && times[first] - before_us > least_gap_us) gap(end_us);
    end_us = begin_us + width_us;
    for (++row; row < times.size() && samples.column.Has(row); ++row) {
      // The next bin mostly begins where the previous one ended; dividing takes longer than the
      // rest.
      if (times[row] < end_us || times[row] - end_us >= width_us) break;
      end_us += width_us;
    }
    take(begin_us, values.subspan(first, row - first));
    before_us = times[row - 1];
  }
}

// Adjacent series mostly have equal times, and so equal gaps.
bool Chart::HaveSameTimes(const Series& series, const Series& other) {
  const ChartSamples &samples = series.samples, &others = other.samples;
  if (samples.empty() != others.empty()) return false;
  if (!samples.empty()) {
    const bool same = samples.at_us == others.at_us || *samples.at_us == *others.at_us;
    return same && samples.column.present == others.column.present;
  }
  return std::ranges::equal(series.bins, other.bins, [](const Bin& one, const Bin& two) {
    return one.at_us == two.at_us && one.first_us == two.first_us && one.last_us == two.last_us;
  });
}

// Writes all columns in one pass, since the bins of a long line do not fit into the processor's
// cache. Where each bin is one sample, its least, mean and greatest value are written once.
struct Chart::Columns {
  explicit Columns(const ChartText& wanted) : text(wanted) {}

  const ChartText text;
  std::string least, mean, most, sum;
  const Series* before = nullptr;           // the series whose times are in the list
  std::size_t times_at = 0, times_end = 0;  // their position in the list

  // Where nearly all bins have one sample, dividing takes as long as the rest.
  static double MeanOf(const Bin& bin) { return bin.count == 1 ? bin.sum : bin.sum / bin.count; }

  void Read(const Chart& chart, const Line& line, bool samples, bool folded, TimeList* times) {
    for (std::string* column : {&least, &mean, &most, &sum}) column->assign(1, '[');
    NumberList lows(least), means(mean), highs(most), sums(sum);
    const bool with_least = text.least || samples;
    const bool with_mean = text.mean && !samples, with_most = text.most && !samples;
    chart.ForEachEntry(line, [&](std::int64_t at_us, const Bin* bin) {
      if (times) times->Add(at_us);
      if (with_least) bin ? lows.Real(bin->least) : lows.Null();
      if (with_mean) bin ? means.Real(MeanOf(*bin)) : means.Null();
      if (with_most) bin ? highs.Real(bin->most) : highs.Null();
      if (folded) bin ? sums.Real(bin->sum / bin->weight) : sums.Null();
    });
  }

  void Read(const Chart& chart, const ChartSamples& samples, TimeList* times) {
    constexpr std::uint8_t kMostDecimals = 4;  // bytes of a real number
    const std::uint8_t scale = samples.column.scale;
    const auto one = static_cast<double>(PowerOfTen(scale));
    least.assign(1, '[');
    NumberList numbers(least);
    const auto take = [&](std::int64_t at_us, std::span<const std::int64_t> values) {
      if (times) times->Add(at_us, values.size());
      if (scale <= kMostDecimals) return numbers.Scaled(values, scale);
      for (const std::int64_t value : values) numbers.Real(static_cast<double>(value) / one);
    };
    const auto gap = [&](std::int64_t at_us) {
      if (times) times->Add(at_us);
      numbers.Null();
    };
    chart.ForEachRun(samples, take, gap);
  }

  void Read(const Chart& chart, const Series& series, bool samples, bool folded, TimeList* times) {
    if (series.samples.empty()) return Read(chart, series.bins, samples, folded, times);
    Read(chart, series.samples, times);
  }

  // Writes the times at the end of the object, or copies them.
  void ReadWithTimes(const Chart& chart, const Series& series, bool samples, bool folded,
                     std::string& object) {
    if (before && HaveSameTimes(series, *before)) {
      object.append(object, times_at, times_end - times_at);
      return Read(chart, series, samples, folded, nullptr);
    }
    before = &series;
    times_at = object.size();
    {
      TimeList times(object, chart.bin_us_, text.runs);
      Read(chart, series, samples, folded, &times);
    }
    times_end = object.size();
  }

  void AppendTo(std::string& object, bool samples, bool folded) const {
    object += ']';
    if (text.least) object.append(",\"min\":").append(least) += ']';
    if (text.mean) object.append(",\"mean\":").append(samples ? least : mean) += ']';
    if (text.most) object.append(",\"max\":").append(samples ? least : most) += ']';
    if (folded) object.append(",\"sum\":").append(sum) += ']';
    object += '}';
  }
};

void Chart::Write(const SeriesKey& key, const Series& series, Columns& columns,
                  std::string& list) const {
  const Metric* metric = FindMetric(key.metric);
  const auto fold = folded_.find(key.metric);
  const bool folded = fold != folded_.end();
  OrderedJson head = {{"metric", key.metric},
                      {"node", key.node},
                      {"device", key.device},
                      {"unit", metric ? metric->unit : ""}};
  if (folded) head["of"] = fold->second;
  OpenObject(list, Dump(head));
  // A chart of means alone may have been drawn without least and greatest.
  const bool drawn = !folded && (columns.text.least || columns.text.most);
  const bool samples =
      !series.samples.empty() ||
      (drawn && std::ranges::all_of(series.bins, [](const Bin& bin) { return bin.count == 1; }));
  columns.ReadWithTimes(*this, series, samples, folded, list);
  columns.AppendTo(list, samples, folded);
}

void Chart::AppendTo(std::string& list, const ChartText& text) const {
  const std::size_t values = std::size_t{text.least} + text.mean + text.most;
  const std::size_t text_of_bin = (text.runs ? 0 : 17) + 8 * values;  // bytes: some digits a value
  std::size_t bins = 0;
  for (const auto& [key, each] : series_) {
    bins += each.samples.empty() ? each.bins.size() : each.samples.at_us->size();
  }
  list.reserve(list.size() + bins * text_of_bin);
  Columns columns(text);  // one object for all lines, to keep its memory
  for (const auto& [key, each] : series_) {
    if (!each.bins.empty() || !each.samples.empty()) Write(key, each, columns, list);
  }
}

void Chart::WriteRows(const SeriesKey& key, const Series& series, const ChartText& text,
                      Csv& csv) const {
  const Metric* metric = FindMetric(key.metric);
  const std::string_view unit = metric ? metric->unit : "";
  const bool folded = folded_.contains(key.metric);
  constexpr int kDecimals = 9;
  Line room;
  ForEachEntry(BinsOf(series, room), [&](std::int64_t at_us, const Bin* bin) {
    if (bin == nullptr) return;
    csv.Text(key.metric).Text(key.node).Text(key.device).Text(unit);
    csv.Text(ToRfc3339(FromMicros(at_us))).Int(at_us);
    const auto put = [&](bool wanted, double value) {
      wanted ? csv.Real(value, kDecimals) : csv.None();
    };
    put(text.least, bin->least);
    put(text.mean, bin->sum / bin->count);
    put(text.most, bin->most);
    put(folded, bin->sum / bin->weight);
    csv.EndRow();
  });
}

Reply Chart::ToCsv(const std::string& file_name, const ChartText& text) const {
  constexpr std::string_view kColumns[] = {"metric",  "node", "device", "unit", "time",
                                           "time_us", "min",  "mean",   "max",  "sum"};
  Csv csv(kColumns);
  for (const auto& [key, series] : series_) WriteRows(key, series, text, csv);
  return std::move(csv).ToReply(file_name);
}

}  // namespace stepscope
