// GET /jobs/{name}/metrics: all charts of a page in one call.

#include <algorithm>

#include "core/base/text.h"
#include "server/api/answer.h"
#include "server/api/chart_fold.h"
#include "server/api/find_job.h"
#include "server/api/json_text.h"
#include "server/api/routes.h"
#include "server/api/series_call.h"
#include "server/store/rollups.h"

namespace stepscope {
namespace {

constexpr std::string_view kFolds[] = {"metric"};
constexpr std::string_view kTimes[] = {"each", "runs"};
constexpr std::string_view kValues[] = {"min", "mean", "max"};
constexpr QueryParameter kChartQuery[] = {
    {"metric", QueryParameter::kTexts, 1, 64},
    {"node"},
    {"device"},
    {"from_us", QueryParameter::kInteger, 0, kLatestUs},
    {"to_us", QueryParameter::kInteger, 0, kLatestUs},
    {"points", QueryParameter::kInteger, 1, 8'000},
    {"since", QueryParameter::kCursor},
    {"fold", QueryParameter::kWord, 1, 1, kFolds},
    {"times", QueryParameter::kWord, 1, 1, kTimes},
    {"values", QueryParameter::kWords, 1, 3, kValues},
};
constexpr std::int64_t kMostBins = 10'000;
constexpr std::int64_t kSilentUs = 60'000'000;  // a node silent for longer holds no one back

// The range of an answer and the grid of its bins.
struct Grid {
  std::int64_t from_us = 0, to_us = 0, bin_us = 1, interval_us = 1;
};

// Where an answer ended: its bins, and the one the next answer begins with.
struct Cursor {
  std::int64_t bin_us = 0, begin_us = 0;
};

std::string EncodeCursor(const Cursor& cursor) {
  return ToBase64Url(Format("{}:{}", cursor.bin_us, cursor.begin_us));
}

std::optional<Cursor> DecodeCursor(const std::string& text) {
  const Result<std::string> plain = FromBase64Url(text);
  if (!plain) return std::nullopt;
  const std::vector<std::string_view> parts = Split(*plain, ':');
  if (parts.size() != 2) return std::nullopt;
  const Result<std::int64_t> bin = ParseInt(parts[0], "bin"), begin = ParseInt(parts[1], "begin");
  const bool good =
      bin && begin && *bin > 0 && *bin <= kLatestUs && *begin >= 0 && *begin <= kLatestUs;
  return good ? std::optional(Cursor{*bin, *begin}) : std::nullopt;
}

// Some nodes lag: the next answer begins where the slowest live one stands.
std::int64_t SlowestLive(const std::vector<TickRange>& ranges) {
  std::int64_t newest_us = 0, slowest_us = INT64_MAX;
  for (const TickRange& range : ranges) newest_us = std::max(newest_us, range.to_us);
  for (const TickRange& range : ranges) {
    if (range.to_us + kSilentUs >= newest_us) slowest_us = std::min(slowest_us, range.to_us);
  }
  return ranges.empty() ? 0 : slowest_us;
}

Grid ChooseGrid(const JobRow& job, const std::vector<TickRange>& ranges, const Query& query,
                const std::optional<Cursor>& since) {
  Grid grid{.from_us = INT64_MAX};
  for (const TickRange& range : ranges) {
    grid.from_us = std::min(grid.from_us, range.from_us);
    grid.to_us = std::max(grid.to_us, range.to_us);
  }
  if (ranges.empty()) grid.from_us = grid.to_us = job.started_us.value_or(job.created_us);
  grid.to_us = query.Int("to_us", grid.to_us);
  grid.from_us = since ? std::max(since->begin_us, query.Int("from_us", 0))
                       : query.Int("from_us", grid.from_us);
  grid.interval_us = IntervalUs(job, grid.from_us, std::max(grid.from_us, grid.to_us));
  if (since) {
    grid.bin_us = since->bin_us;
    return grid;
  }
  const std::int64_t width = std::max<std::int64_t>(grid.to_us - grid.from_us, 0);
  const std::int64_t intervals = width / (query.Int("points", 300) * grid.interval_us) + 1;
  grid.bin_us = intervals * grid.interval_us;
  if (SamplesRemoved(job, grid.from_us)) {
    grid.bin_us = std::max(grid.bin_us, kRollupLevels[0].bin_us);
  }
  grid.bin_us = ChartBin(grid.bin_us);
  grid.from_us -= grid.from_us % grid.bin_us;
  return grid;
}

// What cannot be seen from one parameter alone.
std::optional<SeriesFault> FindFault(const Query& query, const std::optional<Cursor>& since,
                                     const std::vector<NodeBrief>& nodes) {
  if (auto fault = FindSeriesFault(query, nodes)) return fault;
  if (query.Has("since") && !since) return {{"since", "is not the cursor of an answer"}};
  if (query.Has("since") && query.Has("points")) {
    return {{"points", "cannot be given with since, which goes on in the same bins"}};
  }
  return std::nullopt;
}

ChartQuery ToChartQuery(const Query& query, const Grid& grid, const JobRow& job,
                        const std::vector<NodeBrief>& nodes) {
  ChartQuery chart{.job_id = job.job_id,
                   .nodes = nodes,
                   .from_us = grid.from_us,
                   .to_us = grid.to_us,
                   .bin_us = grid.bin_us,
                   .filter = {query.Texts("metric"), {}},
                   .most_series = query.Has("fold") ? kMostFolded : kMostSeries,
                   .whole_job = !query.Has("node") && !query.Has("device"),
                   .means = query.Text("values") == "mean" && !query.Has("fold")};
  if (query.Has("device")) chart.filter.device = query.Text("device");
  if (query.Has("node")) {
    std::erase_if(chart.nodes,
                  [&](const NodeBrief& node) { return node.name != query.Text("node"); });
  }
  return chart;
}

ChartText WantedText(const Query& query) {
  const std::vector<std::string> values = query.Texts("values");
  const auto wants = [&](std::string_view name) {
    return values.empty() || std::ranges::count(values, name) > 0;
  };
  return {query.Text("times") == "runs", wants("min"), wants("mean"), wants("max")};
}

OrderedJson AgentsOf(const std::vector<NodeBrief>& nodes) {
  OrderedJson list = OrderedJson::array();
  for (const NodeBrief& node : nodes) {
    OrderedJson json = {{"node", node.name}};
    PutTime(json, "last_seen", node.last_seen_us);
    list.push_back(json);
  }
  return list;
}

// Where an answer ends is always asked for: there the next one goes on.
RangesWanted WantedRanges(const Query& query) {
  const bool begins = query.Has("from_us") || query.Has("since");
  return {.first = !begins, .node = begins ? query.Text("node") : ""};
}

Result<Reply> DrawChart(Connection& connection, const Request& request, const JobHead& stands,
                        const Query& query) {
  const auto& [job, nodes, ranges] = stands;
  const std::optional<Cursor> since = DecodeCursor(query.Text("since"));
  if (const auto fault = FindFault(query, since, nodes)) {
    return Query::Refuse(request, fault->parameter, fault->detail);
  }
  const Grid grid = ChooseGrid(job, ranges, query, since);
  if ((grid.to_us - grid.from_us) / grid.bin_us > kMostBins) {
    return Query::Refuse(request, "since", "is too old; ask again without it");
  }

  Chart chart(grid.bin_us, grid.interval_us);
  const ChartQuery wanted = ToChartQuery(query, grid, job, nodes);
  const Status filled = query.Has("fold") ? FillFolded(connection, wanted, chart)
                                          : FillChart(connection, wanted, chart);
  if (!filled && filled.error().code == Code::kInvalid) {
    return Query::Refuse(request, "metric", filled.error().message);
  }
  if (!filled) return filled.error();

  const std::int64_t stand_us = std::max(std::min(SlowestLive(ranges), grid.to_us), grid.from_us);
  const OrderedJson head = {{"interval_ms", std::max<std::int64_t>(grid.interval_us / 1'000, 1)},
                            {"bin_us", grid.bin_us},
                            {"from_us", grid.from_us},
                            {"to_us", std::max(grid.to_us, grid.from_us)},
                            {"cursor", EncodeCursor({grid.bin_us, chart.BinOf(stand_us)})},
                            {"agents", AgentsOf(nodes)}};
  std::string text;
  OpenObject(text, Dump(head));
  OpenList(text, "series");
  chart.AppendTo(text, WantedText(query));
  text += "]}";
  return JobReply(job, std::move(text));
}

Result<Reply> ReadMetrics(const Api&, Connection& connection, const Request& request,
                          const PathParameters& path) {
  const Query query(request, kChartQuery);
  if (!query.faults().empty()) return query.Refusal(request);
  if (query.Has("from_us") && query.Has("to_us") &&
      query.Int("from_us", 0) > query.Int("to_us", 0)) {
    return Query::Refuse(request, "from_us", "is after to_us");
  }

  const Result<JobHead> head = FindNamedHead(connection, path, WantedRanges(query));
  if (!head) return head.error();
  return DrawChart(connection, request, *head, query);
}

}  // namespace

std::vector<Route> MetricRoutes(const Api& api) {
  return {Bulk(ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/metrics", ReadMetrics))};
}

}  // namespace stepscope
