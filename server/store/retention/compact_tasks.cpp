#include "server/store/retention/compact_tasks.h"

#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kWaiting[] = R"(
select job_id, count(*)
from frames
where kind in (1, 2, 6)
group by job_id
order by job_id
limit 100000)";
constexpr char kStale[] = R"(
select distinct job_id
from job_rollups
where stale
order by job_id
limit 100000)";
constexpr char kMake[] = R"(
insert into compact_tasks (job_id, due_us)
select job_id, (extract(epoch from clock_timestamp()) * 1000000)::bigint
from unnest($1::bigint[]) as found (job_id)
on conflict (job_id) do nothing)";
constexpr char kOverdue[] = R"(
with clock as materialized (
    select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now_us
)
select coalesce(max(now_us - due_us), 0)
from compact_tasks, clock
where due_us < now_us and lease_until_us < now_us)";
constexpr char kClaim[] = R"(
with clock as materialized (
    select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now_us
), claimed as materialized (
    select job_id
    from compact_tasks t, clock
    where due_us <= now_us and lease_until_us < now_us
    order by due_us, job_id
    limit 1
    for update of t skip locked
)
update compact_tasks t
set worker = $1, fence = fence + 1, lease_until_us = now_us + $2
from claimed c, clock
where t.job_id = c.job_id
returning t.job_id, fence)";
constexpr char kRenew[] = R"(
update compact_tasks
set lease_until_us = (extract(epoch from clock_timestamp()) * 1000000)::bigint + $3
where job_id = $1 and fence = $2)";
constexpr char kPutBack[] = R"(
update compact_tasks
set due_us = (extract(epoch from clock_timestamp()) * 1000000)::bigint + $3, lease_until_us = 0,
    worker = ''
where job_id = $1 and fence = $2)";
constexpr char kEnd[] = "delete from compact_tasks where job_id = $1 and fence = $2";
constexpr char kNodes[] = R"(
select node_id
from nodes n
where job_id = $1 and exists (select 1 from frames f
    where f.job_id = $1 and f.kind = 1 and f.node_id = n.node_id)
order by node_id
limit 10000)";
constexpr char kRanks[] = R"(
select distinct node_id, rank
from frames
where job_id = $1 and kind = $2
order by node_id, rank
limit 100000)";

}  // namespace

Result<CompactBacklog> FindCompactTasks(Connection& connection) {
  const Result<Rows> waiting = connection.Query(kWaiting);
  if (!waiting) return waiting.error();
  const Result<Rows> stale = connection.Query(kStale);
  if (!stale) return stale.error();
  CompactBacklog backlog;
  std::vector<std::int64_t> jobs;
  for (std::size_t i = 0; i < waiting->size(); ++i) {
    jobs.push_back(waiting->Int(i, 0));
    backlog.frames += waiting->Int(i, 1);
  }
  for (std::size_t i = 0; i < stale->size(); ++i) jobs.push_back(stale->Int(i, 0));
  if (Status made = Done(connection.Query(kMake, {Parameter::Array(jobs)})); !made) {
    return made.error();
  }
  const Result<Rows> overdue = connection.Query(kOverdue);
  if (!overdue) return overdue.error();
  backlog.overdue = std::chrono::microseconds(overdue->Int(0, 0));
  return backlog;
}

Result<std::vector<CompactTask>> ClaimCompactTask(Connection& connection, const std::string& worker,
                                                  Duration lease) {
  const Result<Rows> rows = connection.Query(kClaim, {worker, Micros(lease)});
  if (!rows) return rows.error();
  std::vector<CompactTask> tasks;
  for (std::size_t i = 0; i < rows->size(); ++i)
    tasks.push_back({rows->Int(i, 0), rows->Int(i, 1)});
  return tasks;
}

Result<bool> RenewCompactTask(Connection& connection, const CompactTask& task, Duration lease) {
  const Result<Rows> renewed =
      connection.QueryByKey(kRenew, {task.job_id, task.fence, Micros(lease)});
  if (!renewed) return renewed.error();
  return renewed->affected() == 1;
}

Status PutBackCompactTask(Connection& connection, const CompactTask& task, Duration pause) {
  return Done(connection.QueryByKey(kPutBack, {task.job_id, task.fence, Micros(pause)}));
}

Status EndCompactTask(Connection& connection, const CompactTask& task) {
  return Done(connection.QueryByKey(kEnd, {task.job_id, task.fence}));
}

Result<std::vector<std::int64_t>> NodesToCompact(Connection& connection, std::int64_t job_id) {
  const Result<Rows> rows = connection.Query(kNodes, {job_id});
  if (!rows) return rows.error();
  std::vector<std::int64_t> nodes;
  for (std::size_t i = 0; i < rows->size(); ++i) nodes.push_back(rows->Int(i, 0));
  return nodes;
}

Result<std::vector<RankOfNode>> RanksToCompact(Connection& connection, std::int64_t job_id,
                                               FrameKind kind) {
  const Result<Rows> rows = connection.Query(kRanks, {job_id, static_cast<int>(kind)});
  if (!rows) return rows.error();
  std::vector<RankOfNode> ranks;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    ranks.push_back({static_cast<int>(rows->Int(i, 1)), rows->Int(i, 0)});
  }
  return ranks;
}

}  // namespace stepscope
