// POST /jobs/{name}/stop: the agents are asked to end the command.

#include "server/api/http/body.h"
#include "server/api/http/find_job.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/api/jobs/job_description.h"
#include "server/store/jobs/stop_requests.h"

namespace stepscope {
namespace {

Result<Reply> StopOneJob(const Api& api, Connection& connection, const Request& request,
                         const PathParameters& path) {
  const Query query(request, {});
  Body body(request);
  body.AllowOnly(body.root(), "", {});
  if (!query.faults().empty()) return query.Refusal(request);
  if (!body.faults().empty()) return body.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Status asked =
      AskToStop(connection, job->job_id, ToMicros(api.clock.Now()), api.public_url);
  if (!asked) return asked.error();
  Result<Reply> described = DescribeJob(api, connection, request, path);
  if (described) described->status = 202;
  return described;
}

}  // namespace

std::vector<Route> StopRoutes(const Api& api) {
  return {
      ForChange(api, Right::kChange, "POST", "/api/v1/jobs/{name}/stop", "job.stop", StopOneJob)};
}

}  // namespace stepscope
