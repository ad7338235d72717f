// DELETE /jobs/{name}.

#include "server/api/answer.h"
#include "server/api/find_job.h"
#include "server/api/query.h"
#include "server/api/routes.h"
#include "server/store/removals.h"

namespace stepscope {
namespace {

Result<Reply> DeleteOneJob(const Api& api, Connection& connection, const Request& request,
                           const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);
  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Status deleted = DeleteJob(connection, job->name, "deleted", ToMicros(api.clock.Now()));
  if (!deleted) return deleted.error();
  return Reply{.status = 204, .content_type = "", .body = "", .headers = {}};
}

}  // namespace

std::vector<Route> RemovalRoutes(const Api& api) {
  return {
      ForChange(api, Right::kChange, "DELETE", "/api/v1/jobs/{name}", "job.delete", DeleteOneJob)};
}

}  // namespace stepscope
