// GET /jobs/{name}/heatmap: one metric of many devices, as a picture.

#include <algorithm>

#include "core/base/text.h"
#include "core/model/metric.h"
#include "server/api/charts/chart_data.h"
#include "server/api/charts/heat_matrix.h"
#include "server/api/charts/series_call.h"
#include "server/api/http/answer.h"
#include "server/api/http/routes.h"
#include "server/store/rollups/rollups.h"

namespace stepscope {
namespace {

constexpr QueryParameter kHeatmapQuery[] = {
    {"metric", QueryParameter::kTexts, 1, 1},
    {"node"},
    {"from_us", QueryParameter::kInteger, 0, kLatestUs},
    {"to_us", QueryParameter::kInteger, 0, kLatestUs},
    {"columns", QueryParameter::kInteger, 1, 1'000},
    {"rows", QueryParameter::kInteger, 1, 2'000},
};

// The width of the columns, and the begin of each: on a grid since the epoch, as in charts.
struct Grid {
  std::int64_t bin_us = 1;
  std::vector<std::int64_t> times;
};

Grid ChooseGrid(const SeriesRange& range, std::int64_t columns) {
  const std::int64_t width_us = range.to_us - range.from_us;
  const std::int64_t intervals = width_us / (columns * range.interval_us) + 1;
  std::int64_t bin_us = intervals * range.interval_us;
  if (SamplesRemoved(range.job, range.from_us)) bin_us = std::max(bin_us, kRollupLevels[0].bin_us);
  Grid grid{.bin_us = ChartBin(bin_us), .times = {}};
  std::int64_t at_us = range.from_us - range.from_us % grid.bin_us;
  for (; at_us <= range.to_us; at_us += grid.bin_us) grid.times.push_back(at_us);
  return grid;
}

OrderedJson ToJson(const std::vector<HeatRow>& rows) {
  OrderedJson list = OrderedJson::array();
  for (const HeatRow& row : rows) list.push_back({{"node", row.node}, {"device", row.device}});
  return list;
}

Result<Reply> DrawHeatmap(Connection& connection, const Request& request, const SeriesRange& range,
                          const Query& query) {
  if (!query.Has("metric")) return Query::Refuse(request, "metric", "is missing: one metric");
  const Grid grid = ChooseGrid(range, query.Int("columns", 300));
  Chart chart(grid.bin_us, range.interval_us);
  const Status filled = FillChart(connection,
                                  {.job_id = range.job.job_id,
                                   .nodes = range.nodes,
                                   .from_us = grid.times.front(),
                                   .to_us = range.to_us,
                                   .bin_us = grid.bin_us,
                                   .filter = range.filter,
                                   .means = true},
                                  chart);
  if (!filled && filled.error().code == Code::kInvalid) {
    return Query::Refuse(request, "node", filled.error().message);
  }
  if (!filled) return filled.error();

  std::vector<HeatRow> rows = chart.Means(grid.times);
  SortRows(rows);
  const std::size_t all = rows.size();
  rows.resize(std::min(all, static_cast<std::size_t>(query.Int("rows", 500))));
  const HeatMatrix matrix = ToMatrix(rows);
  const Metric* metric = FindMetric(query.Text("metric"));
  const OrderedJson json = {{"metric", query.Text("metric")},
                            {"unit", metric ? metric->unit : ""},
                            {"bin_us", grid.bin_us},
                            {"times_us", grid.times},
                            {"rows", ToJson(rows)},
                            {"left_out", all - rows.size()},
                            {"low", matrix.low},
                            {"high", matrix.high},
                            {"matrix", ToBase64(matrix.bytes)}};
  return JobReply(range.job, json);
}

Result<Reply> ReadHeatmap(const Api&, Connection& connection, const Request& request,
                          const PathParameters& path) {
  return ForSeries(connection, request, path, kHeatmapQuery,
                   [&](const SeriesRange& range, const Query& query) {
                     return DrawHeatmap(connection, request, range, query);
                   });
}

}  // namespace

std::vector<Route> HeatmapRoutes(const Api& api) {
  return {Bulk(ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/heatmap", ReadHeatmap))};
}

}  // namespace stepscope
