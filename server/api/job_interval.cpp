// PATCH /jobs/{name}: what may be changed while a job runs.

#include "server/api/answer.h"
#include "server/api/body.h"
#include "server/api/find_job.h"
#include "server/api/query.h"
#include "server/api/routes.h"
#include "server/store/intervals.h"

namespace stepscope {

// GET /jobs/{name}; in job_description.cpp.
Result<Reply> DescribeJob(const Api&, Connection&, const Request&, const PathParameters&);

namespace {

Result<Reply> ChangeOneJob(const Api& api, Connection& connection, const Request& request,
                           const PathParameters& path) {
  const Query query(request, {});
  Body body(request);
  body.AllowOnly(body.root(), "", {"configuration"});
  const Json configuration = body.Object(body.root(), "", "configuration");
  body.AllowOnly(configuration, "/configuration", {"interval_ms"});
  const std::int64_t interval_ms = body.Integer(configuration, "/configuration", "interval_ms",
                                                kLeastIntervalMs, kMostIntervalMs, 0);
  if (!configuration.contains("interval_ms")) {
    body.Note("/configuration/interval_ms", "a whole number is wanted");
  }
  if (!query.faults().empty()) return query.Refusal(request);
  if (!body.faults().empty()) return body.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Status changed =
      ChangeInterval(connection, job->job_id, interval_ms, ToMicros(api.clock.Now()));
  if (!changed) return changed.error();
  return DescribeJob(api, connection, request, path);
}

}  // namespace

std::vector<Route> JobChangeRoutes(const Api& api) {
  return {
      ForChange(api, Right::kChange, "PATCH", "/api/v1/jobs/{name}", "job.change", ChangeOneJob)};
}

}  // namespace stepscope
