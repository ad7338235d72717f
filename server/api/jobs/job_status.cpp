// GET /jobs/{name}/status: whether a job runs, and no more. Agents, which read nothing else, ask it
// before they send under a name.

#include "server/api/http/answer.h"
#include "server/api/http/find_job.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"

namespace stepscope {
namespace {

Result<Reply> TellStatus(const Api&, Connection& connection, const Request& request,
                         const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  OrderedJson json = {{"name", job->name}, {"status", ToText(job->status)}};
  PutTime(json, "ended", job->ended_us);
  return JsonReply(json);
}

}  // namespace

std::vector<Route> JobStatusRoutes(const Api& api) {
  return {ForDatabase(api, Right::kStatus, "GET", "/api/v1/jobs/{name}/status", TellStatus)};
}

}  // namespace stepscope
