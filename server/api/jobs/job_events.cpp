// GET /jobs/{name}/events: events of a job, and why frames of it were refused.

#include "server/store/jobs/job_events.h"
#include "server/api/http/answer.h"
#include "server/api/http/find_job.h"
#include "server/api/http/page.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"

namespace stepscope {
namespace {

OrderedJson EventJson(const JobEvent& event) {
  OrderedJson json = {{"kind", event.kind}, {"node", NullIfEmpty(event.node)}};
  PutTime(json, "at", event.at_us);
  json["count"] = event.count;
  json["detail"] = event.detail;
  return json;
}

Result<Reply> ListEventsOfJob(const Api&, Connection& connection, const Request& request,
                              const PathParameters& path) {
  const Query query(request, kPageQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Result<EventPage> page = ListEvents(connection, job->job_id, query.Text("cursor"),
                                            static_cast<int>(query.Int("limit", 50)));
  if (!page) return PageFault(request, page.error());

  return JobReply(*job, PageJson(*page, EventJson));
}

}  // namespace

std::vector<Route> JobEventRoutes(const Api& api) {
  return {ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/events", ListEventsOfJob)};
}

}  // namespace stepscope
