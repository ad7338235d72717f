// GET /jobs/{name}/findings.

#include "server/api/answer.h"
#include "server/api/find_job.h"
#include "server/api/page.h"
#include "server/api/query.h"
#include "server/api/routes.h"
#include "server/store/rules.h"

namespace stepscope {
namespace {

constexpr QueryParameter kListQuery[] = {{"rule"}, kCursorParameter, kLimitParameter};

OrderedJson ToJson(const FindingRow& finding) {
  OrderedJson json = {{"rule_configuration_name", finding.rule_name}, {"finding", finding.finding}};
  PutTime(json, "from", finding.from_us);
  PutTime(json, "to", finding.to_us);
  json["node"] = NullIfEmpty(finding.node);
  json["device"] = NullIfEmpty(finding.device);
  json["rank"] = finding.rank < 0 ? OrderedJson(nullptr) : OrderedJson(finding.rank);
  json["sentence"] = finding.sentence;
  json["evidence"] = finding.evidence.is_object() ? finding.evidence : Json::object();
  return json;
}

Result<Reply> ListJobFindings(const Api&, Connection& connection, const Request& request,
                              const PathParameters& path) {
  const Query query(request, kListQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Result<FindingPage> page =
      ListFindings(connection, job->job_id, query.Text("rule"), query.Text("cursor"),
                   static_cast<int>(query.Int("limit", 50)));
  if (!page) return PageFault(request, page.error());
  return JobReply(*job, PageJson(*page, ToJson));
}

}  // namespace

std::vector<Route> FindingRoutes(const Api& api) {
  return {ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/findings", ListJobFindings)};
}

}  // namespace stepscope
