#include "server/ingest/lost_agents.h"

#include "core/base/log.h"
#include "core/base/text.h"
#include "server/store/jobs/job_change.h"
#include "server/store/jobs/job_events.h"
#include "server/store/jobs/job_facts.h"

namespace stepscope {
namespace {

Status EndJob(Connection& connection, std::int64_t job_id, Duration lost_after, std::int64_t now_us,
              const std::string& public_url) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  JobChange change;
  change.status = JobStatus::kFailed;
  change.secondary_status = "Interrupted";
  change.detail = Format("no agent of this job was heard for {}", ToText(lost_after));
  change.at_us = change.now_us = now_us;
  if (Status done = ChangeJob(connection, job_id, change, public_url); !done) return done;
  const Status noted =
      AddEvent(connection, job_id, {now_us, "agents_lost", "", 1, {{"detail", change.detail}}});
  return noted ? transaction->Commit() : noted;
}

}  // namespace

Result<int> MarkLostAgents(Connection& connection, Duration lost_after, std::int64_t now_us,
                           const std::string& public_url) {
  const auto lost_us = std::chrono::duration_cast<std::chrono::microseconds>(lost_after).count();
  const auto jobs = ListSilentJobs(connection, now_us - lost_us);
  if (!jobs) return jobs.error();
  int ended = 0;
  for (const std::int64_t job_id : *jobs) {
    const Status done = EndJob(connection, job_id, lost_after, now_us, public_url);
    if (done) ++ended;
    if (!done && connection.broken()) return done.error();
    // The others go on; this one is tried again with the next turn.
    if (!done) LogWarning("job {}: its agents are lost: {}", job_id, done.error().message);
  }
  return ended;
}

}  // namespace stepscope
