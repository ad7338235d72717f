// GET /jobs/{name}/findings.

#include "server/api/http/answer.h"
#include "server/api/http/find_job.h"
#include "server/api/http/page.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/report/page/rule_answer.h"

namespace stepscope {
namespace {

constexpr QueryParameter kFindingsQuery[] = {{"rule"}, kCursorParameter, kLimitParameter};

Result<Reply> ListJobFindings(const Api&, Connection& connection, const Request& request,
                              const PathParameters& path) {
  const Query query(request, kFindingsQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Result<FindingPage> page =
      ListFindings(connection, job->job_id, query.Text("rule"), query.Text("cursor"),
                   static_cast<int>(query.Int("limit", 50)));
  if (!page) return PageFault(request, page.error());
  return JobReply(*job, PageJson(*page, [](const FindingRow& finding) { return ToJson(finding); }));
}

}  // namespace

std::vector<Route> FindingRoutes(const Api& api) {
  return {ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/findings", ListJobFindings)};
}

}  // namespace stepscope
