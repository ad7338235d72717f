// GET /jobs/{name}/metrics: all charts of a page in one call.

#include <algorithm>

#include "core/base/text.h"
#include "server/api/charts/chart_fold.h"
#include "server/api/charts/chart_grid.h"
#include "server/api/charts/known_heads.h"
#include "server/api/charts/series_call.h"
#include "server/api/http/answer.h"
#include "server/api/http/csv.h"
#include "server/api/http/find_job.h"
#include "server/api/http/json_text.h"
#include "server/api/http/routes.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {
namespace {

constexpr std::string_view kFolds[] = {"metric"};
constexpr std::string_view kFormats[] = {"json", "csv"};
constexpr std::string_view kTimes[] = {"each", "runs"};
constexpr std::string_view kValues[] = {"min", "mean", "max"};
constexpr QueryParameter kChartQuery[] = {
    {"metric", QueryParameter::kTexts, 1, 96},
    {"node"},
    {"device"},
    {"from_us", QueryParameter::kInteger, 0, kLatestUs},
    {"to_us", QueryParameter::kInteger, 0, kLatestUs},
    {"points", QueryParameter::kInteger, 1, 8'000},
    {"since", QueryParameter::kCursor},
    {"fold", QueryParameter::kWord, 1, 1, kFolds},
    {"times", QueryParameter::kWord, 1, 1, kTimes},
    {"values", QueryParameter::kWords, 1, 3, kValues},
    {"format", QueryParameter::kWord, 1, 1, kFormats},
};
constexpr std::int64_t kMostBins = 10'000;

// Finds faults that one parameter alone does not show.
std::optional<SeriesFault> FindFault(const Query& query, const std::optional<ChartCursor>& since,
                                     const std::vector<NodeBrief>& nodes) {
  if (auto fault = FindSeriesFault(query, nodes)) return fault;
  if (query.Has("since") && !since) return {{"since", "is not the cursor of an answer"}};
  if (query.Has("since") && query.Has("points")) {
    return {{"points", "cannot be given with since, which goes on in the same bins"}};
  }
  return std::nullopt;
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

// The next answer continues where this one ends. For a range of one node that is the end of the
// chart itself; who follows with a cursor continues with the node, also where the metric is silent.
RangesWanted WantedRanges(const Query& query) {
  const bool begins = query.Has("from_us") || query.Has("since");
  const bool range = query.Has("from_us") && query.Has("to_us") && !query.Has("since");
  return {.first = !begins,
          .last = !range || !query.Has("node"),
          .node = begins ? query.Text("node") : ""};
}

Result<Reply> DrawChart(Connection& connection, const Request& request, const HeadAndTicks& read,
                        const Query& query) {
  const auto& [job, nodes, ranges] = read.head;
  const std::optional<ChartCursor> since = DecodeCursor(query.Text("since"));
  if (const auto fault = FindFault(query, since, nodes)) {
    return Query::Refuse(request, fault->parameter, fault->detail);
  }
  const ChartGrid grid = ChooseGrid(job, ranges, query, since);
  if ((grid.to_us - grid.from_us) / grid.bin_us > kMostBins) {
    return Query::Refuse(request, "since", "is too old; ask again without it");
  }

  Chart chart(grid.bin_us, grid.interval_us);
  ChartQuery wanted = ToChartQuery(query, grid, job, nodes);
  wanted.fetched = read.ticks ? &*read.ticks : nullptr;
  const Status filled = query.Has("fold") ? FillFolded(connection, wanted, chart)
                                          : FillChart(connection, wanted, chart);
  if (!filled && filled.error().code == Code::kInvalid) {
    if (since) return Query::Refuse(request, "since", "is too old; ask again without it");
    return Query::Refuse(request, "metric", filled.error().message);
  }
  if (!filled) return filled.error();

  if (WantsCsv(request, query.Text("format"))) {
    return chart.ToCsv(job.name + "-metrics.csv", WantedText(query));
  }

  const std::int64_t last_us = ranges.empty() ? chart.last_us() : SlowestLive(ranges);
  const std::int64_t stand_us = std::max(std::min(last_us, grid.to_us), grid.from_us);
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

// The ticks that the chart reads first, if it shows every sample of one node and the job is still
// as its remembered head says.
std::optional<TickQuery> ExpectedTicks(const Query& query,
                                       const std::shared_ptr<const JobHead>& known) {
  const bool is_whole_range = query.Has("node") && query.Has("from_us") && query.Has("to_us");
  if (!known || !is_whole_range || query.Has("since")) return {};
  const ChartGrid grid = ChooseGrid(known->job, {}, query, {});
  const ChartQuery chart = ToChartQuery(query, grid, known->job, known->nodes);
  if (RollupBin(chart.bin_us) > 0 || chart.nodes.size() != 1) return {};
  return FirstBatch(TicksOf(chart, chart.nodes[0].node_id), grid.interval_us);
}

Result<Reply> ReadMetrics(KnownHeads& heads, Connection& connection, const Request& request,
                          const PathParameters& path) {
  const Query query(request, kChartQuery);
  if (!query.faults().empty()) return query.Refusal(request);
  if (query.Has("from_us") && query.Has("to_us") &&
      query.Int("from_us", 0) > query.Int("to_us", 0)) {
    return Query::Refuse(request, "from_us", "is after to_us");
  }

  const auto expected = ExpectedTicks(query, heads.Find(path.at("name")));
  Result<HeadAndTicks> read = FindHeadAndTicks(connection, path, WantedRanges(query), expected);
  if (!read) return read.error();
  Result<Reply> reply = DrawChart(connection, request, *read, query);
  heads.Put(std::move(read->head));
  return reply;
}

}  // namespace

std::vector<Route> MetricRoutes(const Api& api) {
  const auto read = [heads = std::make_shared<KnownHeads>()](
                        const Api&, Connection& connection, const auto& request, const auto& path) {
    return ReadMetrics(*heads, connection, request, path);
  };
  return {Bulk(ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/metrics", read))};
}

}  // namespace stepscope
