// Charts as text of JSON.

#include <algorithm>

#include "core/base/json.h"
#include "core/model/metric.h"
#include "server/api/chart.h"
#include "server/api/json_text.h"

namespace stepscope {
namespace {

// The times of bins, as a member of an object that is open: one by one, or as runs of bins that
// follow each other, [begin of the first, how many].
class TimeList {
 public:
  TimeList(std::string& object, std::int64_t bin_us, bool runs)
      : runs_(runs),
        bin_us_(bin_us),
        list_((OpenList(object, runs ? "runs" : "times_us"), object)) {}
  ~TimeList() { EndRun(); }

  void Add(std::int64_t at_us) {
    if (!runs_) return list_.Int(at_us);
    if (bins_ == 0 || at_us != begin_us_ + bins_ * bin_us_) {
      EndRun();
      begin_us_ = at_us;
    }
    ++bins_;
  }

 private:
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

// Lines that follow each other mostly have the same times, and so the same gaps.
bool Chart::HaveSameTimes(const Line& line, const Line& other) {
  return std::ranges::equal(line, other, [](const Bin& one, const Bin& two) {
    return one.at_us == two.at_us && one.first_us == two.first_us && one.last_us == two.last_us;
  });
}

// All columns in one pass, since the bins of a long line do not fit into the processor's cache.
// Where each bin is one sample, its least, mean and greatest value are written once.
struct Chart::Columns {
  explicit Columns(const ChartText& wanted) : text(wanted) {}

  const ChartText text;
  std::string least, mean, most, sum;
  const Line* before = nullptr;             // the line whose times stand in the list
  std::size_t times_at = 0, times_end = 0;  // there

  // Where nearly all are of one sample, dividing takes as long as the rest.
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

  // With the times at the end of the object, written or copied.
  void ReadWithTimes(const Chart& chart, const Line& line, bool samples, bool folded,
                     std::string& object) {
    if (before && HaveSameTimes(line, *before)) {
      object.append(object, times_at, times_end - times_at);
      return Read(chart, line, samples, folded, nullptr);
    }
    before = &line;
    times_at = object.size();
    {
      TimeList times(object, chart.bin_us_, text.runs);
      Read(chart, line, samples, folded, &times);
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
  // A chart of means alone may have been drawn without the others.
  const bool samples = !folded && (columns.text.least || columns.text.most) &&
                       std::ranges::all_of(line, [](const Bin& bin) { return bin.count == 1; });
  columns.ReadWithTimes(*this, line, samples, folded, list);
  columns.AppendTo(list, samples, folded);
}

void Chart::AppendTo(std::string& list, const ChartText& text) const {
  const std::size_t values = std::size_t{text.least} + text.mean + text.most;
  const std::size_t text_of_bin = (text.runs ? 0 : 17) + 8 * values;  // bytes, of some digits each
  std::size_t bins = 0;
  for (const auto& [place, line] : series_) bins += line.size();
  list.reserve(list.size() + bins * text_of_bin);
  Columns columns(text);  // one for all lines: their memory is kept
  for (const auto& [place, line] : series_) {
    if (!line.empty()) Write(place, line, columns, list);
  }
}

}  // namespace stepscope
