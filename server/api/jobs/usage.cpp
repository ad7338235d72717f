// GET /jobs/{name}/usage: how busy each node was.

#include "server/api/charts/series_call.h"
#include "server/api/http/answer.h"
#include "server/api/http/csv.h"
#include "server/api/http/routes.h"
#include "server/report/measure/usage_table.h"

namespace stepscope {
namespace {

constexpr std::string_view kUsageFormats[] = {"json", "csv"};
constexpr QueryParameter kUsageQuery[] = {
    {"node"},
    {"from_us", QueryParameter::kInteger, 0, kLatestUs},
    {"to_us", QueryParameter::kInteger, 0, kLatestUs},
    {"format", QueryParameter::kWord, 1, 1, kUsageFormats},
};

Result<Reply> ReadUsageTable(const Api&, Connection& connection, const Request& request,
                             const PathParameters& path) {
  return ForSeries(connection, request, path, kUsageQuery,
                   [&](const SeriesRange& range, const Query& query) -> Result<Reply> {
                     const Result<UsageTable> table = ReadUsage(connection, range);
                     if (!table && table.error().code == Code::kInvalid) {
                       return Query::Refuse(request, "node", table.error().message);
                     }
                     if (!table) return table.error();
                     OrderedJson rows = OrderedJson::array();
                     for (const UsageRow& row : table->rows) rows.push_back(ToJson(row));
                     if (WantsCsv(request, query.Text("format"))) {
                       return CsvOfObjects(rows, range.job.name + "-usage.csv");
                     }
                     const OrderedJson json = {{"from_us", range.from_us},
                                               {"to_us", range.to_us},
                                               {"of", table->of},
                                               {"rows", std::move(rows)}};
                     return JobReply(range.job, json);
                   });
}

}  // namespace

std::vector<Route> UsageRoutes(const Api& api) {
  return {Bulk(ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/usage", ReadUsageTable))};
}

}  // namespace stepscope
