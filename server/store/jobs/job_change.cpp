#include "server/store/jobs/job_change.h"

// The one place where a job's status changes.

#include <optional>

#include "core/base/text.h"
#include "server/store/jobs/job_lock.h"
#include "server/store/jobs/job_rows.h"
#include "server/store/postgres/cursor.h"
#include "server/store/webhooks/enqueue.h"

namespace stepscope {
namespace {

constexpr char kChangeJob[] = R"(
update jobs
set status = $2, secondary_status = $3, ended_us = coalesce($4::bigint, ended_us),
    closed_us = coalesce($6::bigint, closed_us), failure = coalesce($5::jsonb, failure)
where job_id = $1)";
// A transition is never earlier than the previous one: the service's clock and the nodes' differ,
// and a tick lies on the grid up to an interval before the job was created.
constexpr char kAddTransition[] = R"(
insert into status_transitions (job_id, version, status, secondary_status, at_us, detail)
select $1, coalesce(max(version), 0) + 1, $2, $3, greatest($4::bigint, max(at_us)), $5
from status_transitions
where job_id = $1 and rule_config_id = 0)";

// A webhook gets the failure without the command's output, which stays here.
Json WithoutOutput(Json failure) {
  if (failure.is_object()) failure.erase("output");
  return failure;
}

// The change that a job with this status takes in place of `change`; nullopt when it takes none.
std::optional<JobChange> Allowed(const JobRow& current, JobChange change) {
  if (HasEnded(current.status)) return std::nullopt;
  if (current.status == JobStatus::kStopping) {
    if (change.status == JobStatus::kInProgress && !change.stop_refused) return std::nullopt;
    if (HasEnded(change.status)) {
      change.status = JobStatus::kStopped;
      change.secondary_status = "Stopped";
      change.failure = nullptr;
    }
  }
  const bool same =
      current.status == change.status && current.secondary_status == change.secondary_status;
  return same ? std::nullopt : std::optional(std::move(change));
}

// Empty for a status that webhooks are not told.
std::string EventOf(JobStatus status) {
  if (status == JobStatus::kCompleted) return "job.completed";
  if (status == JobStatus::kFailed) return "job.failed";
  return status == JobStatus::kStopped ? "job.stopped" : "";
}

Json Announcement(const std::string& event, const JobChange& change, const JobRow& job,
                  const std::string& public_url) {
  return {{"type", event},
          {"timestamp", ToRfc3339(FromMicros(change.at_us))},
          {"data",
           {{"job", job.name},
            {"group", job.group},
            {"status", ToText(change.status)},
            {"secondary_status", change.secondary_status},
            {"detail", change.detail},
            {"failure", WithoutOutput(change.failure)},
            {"url", JobUrl(public_url, job.name)}}}};
}

}  // namespace

std::string JobUrl(const std::string& public_url, const std::string& job) {
  return public_url + "/jobs/" + job;
}

Status ChangeJob(Connection& connection, std::int64_t job_id, const JobChange& wanted,
                 const std::string& public_url) {
  // The lock makes versions count one by one.
  const Result<std::optional<JobRow>> current = LockJob(connection, job_id);
  if (!current) return current.error();
  const auto change = *current ? Allowed(**current, wanted) : std::nullopt;
  if (!change) return {};
  const std::string status(ToText(change->status));
  const bool ends = HasEnded(change->status);
  const Parameter ended = ends ? Parameter(change->at_us) : Parameter(nullptr);
  const Parameter closed = ends ? Parameter(change->now_us) : Parameter(nullptr);
  const Parameter failure =
      change->failure.is_null() ? Parameter(nullptr) : Parameter(Dump(change->failure));
  const Status changed = Done(connection.Query(
      kChangeJob, {job_id, status, change->secondary_status, ended, failure, closed}));
  if (!changed) return changed;
  const Status noted = Done(connection.Query(
      kAddTransition, {job_id, status, change->secondary_status, change->at_us, change->detail}));
  const std::string event = EventOf(change->status);
  if (!noted || event.empty()) return noted;
  if (const Status withdrawn = WithdrawFindings(connection, job_id, ""); !withdrawn) {
    return withdrawn;
  }
  return EnqueueDeliveries(connection, job_id, event,
                           Announcement(event, *change, **current, public_url), change->at_us);
}

}  // namespace stepscope
