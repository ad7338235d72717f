// GET /jobs/{name}/percentiles: percentiles of the samples of each series, sliding or as a whole.

#include <algorithm>
#include <map>
#include <tuple>

#include "core/base/text.h"
#include "core/model/metric.h"
#include "server/api/charts/gap.h"
#include "server/api/charts/series_call.h"
#include "server/api/http/answer.h"
#include "server/api/http/json_text.h"
#include "server/api/http/routes.h"
#include "server/report/measure/sliding.h"
#include "server/store/ticks/node_samples.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {
namespace {

constexpr QueryParameter kPercentileQuery[] = {
    {"metric", QueryParameter::kTexts, 1, 64},
    {"node"},
    {"device"},
    {"from_us", QueryParameter::kInteger, 0, kLatestUs},
    {"to_us", QueryParameter::kInteger, 0, kLatestUs},
    {"window", QueryParameter::kInteger, 0, kMostWindow},
    {"points", QueryParameter::kInteger, 1, 8'000},
};
constexpr double kShares[] = {0.05, 0.50, 0.95};
constexpr const char* kNames[] = {"p5", "p50", "p95"};
constexpr std::size_t kMostEntries = 1'000'000;  // entries of all series of an answer

// The JSON of each series, by metric, node and device.
using Answers = std::map<std::tuple<std::string, std::string, std::string>, std::string>;

// The samples that get an entry, and the gaps, which get an empty one.
struct Entries {
  std::vector<std::size_t> ends;
  std::vector<std::int64_t> gap_after_us;  // for each end: the time of the gap after it; or -1
};

Entries ChooseEntries(const SampleSeries& series, const SeriesRange& range, std::size_t points,
                      bool whole) {
  const auto begin = std::ranges::lower_bound(series.at_us, range.from_us);
  const auto first = static_cast<std::size_t>(begin - series.at_us.begin());
  Entries entries;
  entries.ends = EvenEnds(first, series.at_us.size(), whole ? 1 : points);
  // A gap that is narrower than the distance of entries would not be seen.
  const std::int64_t apart_us = (range.to_us - range.from_us) / static_cast<std::int64_t>(points);
  std::int64_t shortest_us = INT64_MAX;
  for (std::size_t i = first + 1; i < series.at_us.size(); ++i) {
    shortest_us = std::min(shortest_us, series.at_us[i] - series.at_us[i - 1]);
  }
  const std::int64_t least_us = std::max(LeastGapUs(range.interval_us, shortest_us), apart_us);
  std::size_t at = first;
  for (std::size_t i = 0; i < entries.ends.size(); ++i) {
    entries.gap_after_us.push_back(-1);
    for (; at < entries.ends[i]; ++at) {
      const bool gap = at > first && series.at_us[at] - series.at_us[at - 1] > least_us;
      if (gap && i > 0) entries.gap_after_us[i - 1] = series.at_us[at - 1] + range.interval_us;
    }
  }
  return entries;
}

// Calls append(i) for each entry, and gap(time) for the empty entry of each gap.
template <typename Append, typename Gap>
void ForEachEntry(const Entries& entries, Append append, Gap gap) {
  for (std::size_t i = 0; i < entries.ends.size(); ++i) {
    append(i);
    if (entries.gap_after_us[i] >= 0) gap(entries.gap_after_us[i]);
  }
}

std::string Describe(const std::string& node, const SampleSeries& series, const Entries& entries,
                     const std::vector<std::vector<std::int64_t>>& rows) {
  const Metric* metric = FindMetric(series.metric);
  const OrderedJson head = {{"metric", series.metric},
                            {"node", node},
                            {"device", series.device},
                            {"unit", metric ? metric->unit : ""}};
  std::string text;
  OpenObject(text, Dump(head));
  OpenList(text, "times_us");
  {
    NumberList times(text);
    ForEachEntry(
        entries, [&](std::size_t i) { times.Int(series.at_us[entries.ends[i] - 1]); },
        [&](std::int64_t gap_us) { times.Int(gap_us); });
  }
  for (std::size_t share = 0; share < std::size(kShares); ++share) {
    text += ']';
    OpenList(text, kNames[share]);
    NumberList numbers(text);
    ForEachEntry(
        entries, [&](std::size_t i) { numbers.Scaled(rows[share][i], series.scale); },
        [&](std::int64_t) { numbers.Null(); });
  }
  return text + "]}";
}

std::vector<std::vector<std::int64_t>> Calculate(const SampleSeries& series, const Entries& entries,
                                                 std::size_t window) {
  if (window > 0) return SlidePercentiles(series.values, window, entries.ends, kShares);
  std::vector<std::vector<std::int64_t>> rows;
  for (const std::int64_t value : PercentilesOf(series.values, kShares)) rows.push_back({value});
  return rows;
}

// The query begins earlier than the range, by the samples that the first windows reach back to.
TickQuery TicksOf(const SeriesRange& range, const NodeBrief& node, std::int64_t window) {
  const std::int64_t before_us = std::min(range.from_us, window * range.interval_us);
  return {.job_id = range.job.job_id,
          .node_id = node.node_id,
          .after_us = range.from_us - before_us - 1,
          .until_us = range.to_us,
          .filter = range.filter};
}

Result<Reply> AnswerPercentiles(Connection& connection, const Request& request,
                                const SeriesRange& range, const Query& query) {
  const std::int64_t window = query.Int("window", 500);
  const auto points = static_cast<std::size_t>(query.Int("points", 300));
  ReadBudget budget;
  std::size_t entries_left = kMostEntries;
  Answers answers;
  for (const NodeBrief& node : range.nodes) {
    const auto read = ReadSamples(connection, TicksOf(range, node, window), budget);
    if (!read && read.error().code == Code::kInvalid) {
      return Query::Refuse(request, "metric", read.error().message);
    }
    if (!read) return read.error();
    for (const SampleSeries& series : *read) {
      const Entries entries = ChooseEntries(series, range, points, window == 0);
      if (entries.ends.empty()) continue;  // all are before the range
      if (entries.ends.size() > entries_left) {
        return Query::Refuse(request, "points", "are too many for so many series");
      }
      entries_left -= entries.ends.size();
      answers[{series.metric, node.name, series.device}] = Describe(
          node.name, series, entries, Calculate(series, entries, static_cast<std::size_t>(window)));
    }
  }
  OrderedJson head = {{"interval_ms", std::max<std::int64_t>(range.interval_us / 1'000, 1)},
                      {"from_us", range.from_us},
                      {"to_us", range.to_us},
                      {"window", window},
                      {"samples_from_us", nullptr}};
  if (SamplesRemoved(range.job, range.from_us))
    head["samples_from_us"] = *range.job.samples_from_us;
  std::string text;
  OpenObject(text, Dump(head));
  OpenList(text, "series");
  for (const auto& [key, series] : answers) {
    OpenObject(text, series);
    text += '}';
  }
  return JobReply(range.job, text + "]}");
}

Result<Reply> ReadPercentiles(const Api&, Connection& connection, const Request& request,
                              const PathParameters& path) {
  return ForSeries(connection, request, path, kPercentileQuery,
                   [&](const SeriesRange& range, const Query& query) {
                     return AnswerPercentiles(connection, request, range, query);
                   });
}

}  // namespace

std::vector<Route> PercentileRoutes(const Api& api) {
  return {Bulk(
      ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/percentiles", ReadPercentiles))};
}

}  // namespace stepscope
