// DELETE /jobs/{name}.

#include "rules/catalog/catalog.h"
#include "server/api/http/answer.h"
#include "server/api/http/find_job.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/store/retention/removals.h"
#include "server/store/rules/rule_changes.h"

namespace stepscope {
namespace {

// A job that has ended leaves nobody waiting for its rules. A rule that sums up others has sent no
// messages.
Status AnnounceRulesGone(const Api& api, Connection& connection, const JobRow& job) {
  if (HasEnded(job.status)) return {};
  const auto rules = LockRules(connection, job.job_id);
  if (!rules) return rules.error();
  std::vector<std::int64_t> telling;
  for (const RuleConfigRow& config : *rules) {
    if (!SumsUp(config.rule)) telling.push_back(config.rule_config_id);
  }
  return AnnounceGone(connection, job.job_id, telling, "the job was deleted",
                      ToMicros(api.clock.Now()), api.public_url);
}

Result<Reply> DeleteOneJob(const Api& api, Connection& connection, const Request& request,
                           const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);
  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  if (const Status announced = AnnounceRulesGone(api, connection, *job); !announced)
    return announced.error();
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
