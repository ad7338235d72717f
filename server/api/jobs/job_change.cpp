// PATCH /jobs/{name}: changes a running job, and how long its samples are kept.

#include "server/api/http/answer.h"
#include "server/api/http/body.h"
#include "server/api/http/find_job.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/api/jobs/job_description.h"
#include "server/api/jobs/kept_days.h"
#include "server/api/rules/given_rules.h"
#include "server/store/jobs/interval_requests.h"
#include "server/store/jobs/job_retention.h"

namespace stepscope {
namespace {

void CheckMembers(Body& body, const Json& configuration) {
  body.AllowOnly(body.root(), "", {"configuration"});
  body.AllowOnly(configuration, "/configuration", {"interval_ms", kKeptDays, "rules"});
  body.Integer(configuration, "/configuration", "interval_ms", kLeastIntervalMs, kMostIntervalMs,
               0);
  if (configuration.empty()) {
    body.Note("/configuration", "interval_ms, keep_samples_days or rules is wanted");
  }
}

// Locks the rules before the job, as writers of rule outcomes and messages do.
Result<RuleChanges> ChangeJobRules(const Api& api, Connection& connection, const JobRow& job,
                                   Body& body, const Json& configuration) {
  const auto configured = LockRules(connection, job.job_id);
  if (!configured) return configured.error();
  RuleChanges changes = ReadRuleChanges(body, configuration, *configured);
  if (!body.faults().empty()) return changes;
  const Result<JobRow> now = LoadJob(connection, job.job_id);
  if (!now) return now.error();
  if (HasEnded(now->status)) {
    return Conflict(
        "the job has ended: its rules cannot be changed; rules/preview says what they "
        "would find with other parameters");
  }
  const Status changed = ChangeRules(connection, job.job_id, *configured, changes,
                                     ToMicros(api.clock.Now()), api.public_url);
  if (!changed) return changed.error();
  return changes;
}

Result<Reply> ChangeOneJob(const Api& api, Connection& connection, const Request& request,
                           const PathParameters& path) {
  const Query query(request, {});
  Body body(request);
  const Json configuration = body.Object(body.root(), "", "configuration");
  CheckMembers(body, configuration);
  const std::optional<std::int64_t> keep_days = ReadKeptDays(body, configuration);
  if (!query.faults().empty()) return query.Refusal(request);
  if (!body.faults().empty()) return body.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  if (configuration.contains("rules")) {
    const auto changes = ChangeJobRules(api, connection, *job, body, configuration);
    if (!changes) return changes.error();
    if (!body.faults().empty()) return body.Refusal(request);
  }
  if (configuration.contains("interval_ms")) {
    const Status changed =
        ChangeInterval(connection, job->job_id, configuration["interval_ms"].get<std::int64_t>(),
                       ToMicros(api.clock.Now()));
    if (!changed) return changed.error();
  }
  if (configuration.contains(kKeptDays)) {
    const Status changed = KeepSamples(connection, job->job_id, keep_days);
    if (!changed) return changed.error();
  }
  return DescribeJob(api, connection, request, path);
}

}  // namespace

std::vector<Route> JobChangeRoutes(const Api& api) {
  return {
      ForChange(api, Right::kChange, "PATCH", "/api/v1/jobs/{name}", "job.change", ChangeOneJob)};
}

}  // namespace stepscope
