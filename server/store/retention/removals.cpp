#include "server/store/retention/removals.h"

#include "core/base/text.h"
#include "server/store/frames/job_id.h"
#include "server/store/postgres/cursor.h"
#include "server/store/retention/removal_pieces.h"
#include "server/store/rules/rule_changes.h"

namespace stepscope {
namespace {

constexpr std::int64_t kQuietUs = 60'000'000;

constexpr char kDelete[] = "delete from jobs where job_id = $1";
constexpr char kForgetRules[] = "delete from rule_tasks where job_id = $1";
constexpr char kForgetCompaction[] = "delete from compact_tasks where job_id = $1";
constexpr char kAsk[] = R"(
insert into removals (job_id, name, reason, asked_us)
values ($1, $2, $3, $4))";
constexpr char kOpen[] = R"(
select job_id
from removals
where ended_us is null
order by asked_us
limit 1000)";
constexpr char kGoOn[] = R"(
select 1
from removals
where ended_us is null and quiet_us is null
limit 1)";
constexpr char kLock[] = "select pg_try_advisory_xact_lock(7382, $1::bigint::integer)";
constexpr char kNote[] = R"(
update removals
set rows = rows + $2, bytes = bytes + $3,
    ended_us = case when $2 = 0 and quiet_us < $4 - $5 then $4 end,
    quiet_us = case when $2 = 0 then coalesce(quiet_us, $4) end
where job_id = $1)";

constexpr char kEndedBefore[] = R"(
select job_id, name
from jobs
where coalesce(closed_us, greatest(ended_us, created_us)) < $1 and ended_us is not null
order by coalesce(closed_us, greatest(ended_us, created_us))
limit 100)";
constexpr char kCreatedBefore[] = R"(
select job_id
from jobs
where created_us < $1 and job_id > $2
order by job_id
limit 1000)";
// A row that has the time already is not written again.
constexpr char kSamplesFrom[] = R"(
update jobs
set samples_from_us = $2
where job_id = $1 and coalesce(samples_from_us, 0) < $2)";

constexpr char kSamplesFromOf[] = R"(
select coalesce(max(samples_from_us), 0)
from jobs
where job_id = $1)";

// Runs the statements until one has removed something.
Result<Removed> RunPieces(Connection& connection, const auto& pieces,
                          std::span<const Parameter> parameters) {
  for (const auto& piece : pieces) {
    const Result<Rows> rows = connection.Query(piece, parameters);
    if (!rows) return rows.error();
    if (rows->Int(0, 0) > 0) return Removed{rows->Int(0, 0), rows->Int(0, 1)};
  }
  return Removed{};
}

// Holds the lock until the transaction ends. False: another replica has it.
Result<bool> TryLock(Connection& connection, std::int64_t job_id) {
  const Result<Rows> locked = connection.Query(kLock, {job_id % INT32_MAX});
  if (!locked) return locked.error();
  return locked->Bool(0, 0);
}

Result<Removed> RunRecordPiece(Connection& connection, const char* piece,
                               const std::vector<Parameter>& parameters) {
  constexpr std::int64_t kNoJob = 0;
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  const Result<bool> locked = TryLock(connection, kNoJob);
  if (!locked) return locked.error();
  if (!*locked) return Removed{};
  const Result<Removed> removed = RunPieces(connection, std::span(&piece, 1), parameters);
  if (!removed) return removed.error();
  if (Status committed = transaction->Commit(); !committed) return committed.error();
  return *removed;
}

Result<std::vector<std::int64_t>> Numbers(const Result<Rows>& rows) {
  if (!rows) return rows.error();
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < rows->size(); ++i) numbers.push_back(rows->Int(i, 0));
  return numbers;
}

}  // namespace

Status DeleteJob(Connection& connection, const std::string& name, const std::string& reason,
                 std::int64_t now_us) {
  const Result<std::optional<std::int64_t>> job = FindJobId(connection, name);
  if (!job) return job.error();
  const Error gone = NotFound(Format("there is no job {}", Printable(name)));
  if (!*job) return gone;
  const std::int64_t job_id = **job;
  // Locks states before tasks before the job, as writers of rule outcomes and changes do.
  if (Status locked = LockRuleStates(connection, job_id); !locked) return locked;
  if (Status done = Done(connection.Query(kForgetRules, {job_id})); !done) return done;
  const Result<Rows> deleted = connection.Query(kDelete, {job_id});
  if (!deleted) return deleted.error();
  if (deleted->affected() == 0) return gone;  // another transaction has deleted it
  // Once more, for tasks of rules that were added meanwhile.
  for (const char* after : {kForgetRules, kForgetCompaction}) {
    if (Status done = Done(connection.Query(after, {job_id})); !done) return done;
  }
  return Done(connection.Query(kAsk, {job_id, name, reason, now_us}));
}

Result<std::vector<std::int64_t>> ListRemovals(Connection& connection) {
  return Numbers(connection.Query(kOpen));
}

Result<bool> RemovalsGoOn(Connection& connection) {
  const Result<Rows> rows = connection.Query(kGoOn);
  if (!rows) return rows.error();
  return !rows->empty();
}

Result<Removed> RemoveSome(Connection& connection, std::int64_t job_id, std::int64_t most,
                           std::int64_t now_us) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  const Result<bool> locked = TryLock(connection, job_id);
  if (!locked) return locked.error();
  if (!*locked) return Removed{};
  const Parameter parameters[] = {job_id, most};
  const Result<Removed> removed = RunPieces(connection, JobPieces(), parameters);
  if (!removed) return removed.error();
  const Status noted =
      Done(connection.Query(kNote, {job_id, removed->rows, removed->bytes, now_us, kQuietUs}));
  if (!noted) return noted.error();
  if (Status committed = transaction->Commit(); !committed) return committed.error();
  return *removed;
}

Result<std::vector<EndedJob>> ListJobsEndedBefore(Connection& connection, std::int64_t before_us) {
  const Result<Rows> rows = connection.Query(kEndedBefore, {before_us});
  if (!rows) return rows.error();
  std::vector<EndedJob> jobs;
  for (std::size_t i = 0; i < rows->size(); ++i)
    jobs.push_back({rows->Int(i, 0), rows->Text(i, 1)});
  return jobs;
}

Result<std::vector<std::int64_t>> ListJobsCreatedBefore(Connection& connection,
                                                        std::int64_t before_us,
                                                        std::int64_t after_job_id) {
  return Numbers(connection.Query(kCreatedBefore, {before_us, after_job_id}));
}

Result<Removed> RemoveSamplesBefore(Connection& connection, std::int64_t job_id,
                                    std::int64_t before_us, std::int64_t most) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  const Parameter parameters[] = {job_id, most, before_us};
  const Result<Removed> removed = RunPieces(connection, kOldPieces, parameters);
  if (!removed || removed->rows == 0) return removed;
  // Noted with the first piece: readers then take rollups for a range that is partly removed.
  const Status noted = NoteSamplesRemoved(connection, job_id, before_us);
  if (!noted) return noted.error();
  if (Status committed = transaction->Commit(); !committed) return committed.error();
  return *removed;
}

Result<Removed> RemoveMessagesOfGoneJobs(Connection& connection, std::int64_t most) {
  return RunRecordPiece(connection, kMessagesOfGoneJobs, {most});
}

Result<Removed> RemoveRecordsBefore(Connection& connection, OldRecords records,
                                    std::int64_t before_us, std::int64_t most) {
  return RunRecordPiece(connection, kOldRecords[static_cast<int>(records)], {before_us, most});
}

Status NoteSamplesRemoved(Connection& connection, std::int64_t job_id, std::int64_t before_us) {
  return Done(connection.Query(kSamplesFrom, {job_id, before_us}));
}

Result<std::int64_t> SamplesFrom(Connection& connection, std::int64_t job_id) {
  const Result<Rows> rows = connection.QueryByKey(kSamplesFromOf, {job_id});
  if (!rows) return rows.error();
  return rows->Int(0, 0);
}

}  // namespace stepscope
