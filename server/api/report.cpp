// GET /jobs/{name}/report: what there is to say of a job, on one page.

#include "server/report/report.h"

#include "core/model/names.h"
#include "server/api/answer.h"
#include "server/api/query.h"
#include "server/api/routes.h"

namespace stepscope {
namespace {

Result<Report> Gather(const Api& api, Connection& connection, const PathParameters& path) {
  const std::string& name = path.at("name");
  if (const Status good = CheckJobName(name); !good) return good.error();
  return GatherReport(connection, {name, api.public_url, api.version, ToMicros(api.clock.Now())});
}

Result<Reply> ReadReport(const Api& api, Connection& connection, const Request& request,
                         const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);
  const Result<Report> report = Gather(api, connection, path);
  if (!report) return report.error();
  return JobReply(report->job, ToJson(*report));
}

}  // namespace

std::vector<Route> ReportRoutes(const Api& api) {
  return {Bulk(ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/report", ReadReport))};
}

}  // namespace stepscope
