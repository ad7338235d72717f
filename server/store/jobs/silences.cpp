#include "server/store/jobs/silences.h"

#include <algorithm>

#include "server/store/jobs/job_lock.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kListSilences[] = R"(
select job_id
from jobs
join nodes using (job_id)
where status in ('InProgress', 'Stopping') and nodes.ended_us is null and facts <> '{}'
group by job_id
having bool_or(last_seen_us < $1 and silent_told_us < last_seen_us)
    or (max(last_seen_us) < $1 and bool_or(stalled_told_us < last_seen_us))
order by job_id
limit 1000)";
// Locks in the order of ingest, nodes before the job, and only nodes for which nobody pushes:
// pushes of others must not wait.
constexpr char kLockSilent[] = R"(
select name, last_seen_us, silent_told_us < last_seen_us, stalled_told_us < last_seen_us
from nodes
where job_id = $1 and ended_us is null and facts <> '{}' and last_seen_us < $2
order by name collate "C"
for no key update)";
constexpr char kAnyHeard[] = R"(
select 1
from nodes
where job_id = $1 and ended_us is null and facts <> '{}' and last_seen_us >= $2
limit 1)";
constexpr char kTold[] = R"(
update nodes
set silent_told_us = last_seen_us,
    stalled_told_us = case when $3 then last_seen_us else stalled_told_us end
where job_id = $1 and ended_us is null and facts <> '{}' and last_seen_us < $2)";

UntoldSilence Untold(const Rows& silent, bool any_heard) {
  UntoldSilence untold;
  for (std::size_t i = 0; i < silent.size(); ++i) {
    const std::int64_t last_seen_us = silent.Int(i, 1);
    untold.last_seen_us = std::max(untold.last_seen_us, last_seen_us);
    if (silent.Bool(i, 2)) untold.nodes.push_back({silent.Text(i, 0), last_seen_us});
    untold.stalled = untold.stalled || (silent.Bool(i, 3) && !any_heard);
  }
  return untold;
}

}  // namespace

Result<std::vector<std::int64_t>> ListUntoldSilences(Connection& connection,
                                                     std::int64_t before_us) {
  const Result<Rows> rows = connection.Query(kListSilences, {before_us});
  if (!rows) return rows.error();
  std::vector<std::int64_t> jobs;
  for (std::size_t i = 0; i < rows->size(); ++i) jobs.push_back(rows->Int(i, 0));
  return jobs;
}

Result<UntoldSilence> TakeUntoldSilence(Connection& connection, std::int64_t job_id,
                                        std::int64_t before_us) {
  const Result<Rows> silent = connection.Query(kLockSilent, {job_id, before_us});
  if (!silent) return silent.error();
  const Result<Rows> heard = connection.Query(kAnyHeard, {job_id, before_us});
  if (!heard) return heard.error();
  const Result<std::optional<JobRow>> job = LockJob(connection, job_id);
  if (!job) return job.error();
  if (!*job || HasEnded((*job)->status)) return UntoldSilence();
  UntoldSilence untold = Untold(*silent, !heard->empty());
  untold.job = (*job)->name;
  untold.group = (*job)->group;
  untold.status = (*job)->status;
  if (untold.nodes.empty() && !untold.stalled) return untold;
  const Status told = Done(connection.Query(kTold, {job_id, before_us, untold.stalled}));
  return told ? Result<UntoldSilence>(std::move(untold)) : told.error();
}

}  // namespace stepscope
