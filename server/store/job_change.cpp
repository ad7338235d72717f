// The one place where a job's status changes.

#include "core/base/text.h"
#include "server/store/cells.h"
#include "server/store/job_rows.h"
#include "server/store/webhooks.h"

namespace stepscope {
namespace {

// The row stays locked until the caller commits, so that versions are counted one by one.
constexpr char kChange[] = R"(
update jobs
set status = $2, secondary_status = $3, ended_us = coalesce($4::bigint, ended_us),
    failure = coalesce($5::jsonb, failure)
where job_id = $1 and status in ('InProgress', 'Stopping')
    and (status <> $2 or secondary_status <> $3)
returning name, job_group)";
// Never before the one before: the service's clock and the nodes' differ, and a tick lies on the
// grid up to an interval before the job was created.
constexpr char kAddTransition[] = R"(
insert into status_transitions (job_id, version, status, secondary_status, at_us, detail)
select $1, coalesce(max(version), 0) + 1, $2, $3, greatest($4::bigint, max(at_us)), $5
from status_transitions
where job_id = $1 and rule_config_id = 0)";

// The failure without the command's output, which stays here.
Json WithoutOutput(Json failure) {
  if (failure.is_object()) failure.erase("output");
  return failure;
}

Json Announcement(const std::string& event, const JobChange& change, const Rows& job,
                  const std::string& public_url) {
  const std::string name = job.Text(0, 0);
  return {{"type", event},
          {"timestamp", ToRfc3339(FromMicros(change.at_us))},
          {"data",
           {{"job", name},
            {"group", job.Text(0, 1)},
            {"status", ToText(change.status)},
            {"secondary_status", change.secondary_status},
            {"detail", change.detail},
            {"failure", WithoutOutput(change.failure)},
            {"url", JobUrl(public_url, name)}}}};
}

}  // namespace

std::string JobUrl(const std::string& public_url, const std::string& job) {
  return public_url + "/jobs/" + job;
}

Status ChangeJob(Connection& connection, std::int64_t job_id, const JobChange& change,
                 const std::string& public_url) {
  const std::string status(ToText(change.status));
  const Parameter ended = HasEnded(change.status) ? Parameter(change.at_us) : Parameter(nullptr);
  const Parameter failure =
      change.failure.is_null() ? Parameter(nullptr) : Parameter(Dump(change.failure));
  const Result<Rows> changed =
      connection.Query(kChange, {job_id, status, change.secondary_status, ended, failure});
  if (!changed) return changed.error();
  if (changed->empty()) return {};
  const Status noted = Done(connection.Query(
      kAddTransition, {job_id, status, change.secondary_status, change.at_us, change.detail}));
  if (!noted) return noted;
  if (change.status != JobStatus::kCompleted && change.status != JobStatus::kFailed) return {};
  const std::string event = change.status == JobStatus::kCompleted ? "job.completed" : "job.failed";
  return EnqueueDeliveries(connection, job_id, event,
                           Announcement(event, change, *changed, public_url), change.at_us);
}

}  // namespace stepscope
