#include "server/store/rules/rule_tasks.h"

// The queue of evaluations: claimed with a lease, written under a fence.

#include "core/base/text.h"
#include "server/store/postgres/cursor.h"
#include "server/store/rules/rules.h"

namespace stepscope {
namespace {

// A plain "in (select ... limit for update)" may be run again by a nested loop and lock too many
// rows. The time is a value, not a table to join: so the first task is found at the beginning of
// the index of due tasks, however many are due.
constexpr char kClaim[] = R"(
with clock as materialized (
    select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now_us
), first as materialized (
    select task_id, job_id, attempt
    from rule_tasks
    where state in ('ready', 'running') and due_us <= (select now_us from clock)
        and (state = 'ready' or lease_until_us < (select now_us from clock))
    order by due_us
    limit 1
    for update skip locked
), others as materialized (
    select t.task_id
    from rule_tasks t, first f, clock
    where t.job_id = f.job_id and t.task_id <> f.task_id and f.attempt = 0 and t.attempt = 0
        and t.state = 'ready' and t.due_us <= now_us + 250000
    order by t.task_id
    limit $2 - 1
    for update of t skip locked
), claimed as (
    select task_id from first union all select task_id from others
)
update rule_tasks t
set state = 'running', worker = $1, fence = fence + 1, attempt = attempt + 1,
    lease_until_us = now_us + $3
from claimed c, clock
where t.task_id = c.task_id
returning t.task_id, job_id, rule_config_id, fence, attempt)";
constexpr char kRenew[] = R"(
update rule_tasks
set lease_until_us = (extract(epoch from clock_timestamp()) * 1000000)::bigint + $3
where task_id = $1 and fence = $2 and state = 'running')";
constexpr char kRelease[] = R"(
update rule_tasks
set state = 'ready', due_us = (extract(epoch from clock_timestamp()) * 1000000)::bigint,
    fence = fence + 1, attempt = greatest(attempt - 1, 0)
where task_id = any($2::bigint[]) and worker = $1 and state = 'running')";

constexpr char kJudgeOnceMore[] = R"(
update rule_tasks
set state = 'ready', due_us = (extract(epoch from clock_timestamp()) * 1000000)::bigint,
    fence = fence + 1, attempt = greatest(attempt - 1, 0)
where job_id = $1 and (state = 'running' or (state = 'done' and error = '')))";

}  // namespace

Result<std::vector<RuleTask>> ClaimRuleTasks(Connection& connection, const std::string& worker,
                                             int most, Duration lease) {
  const Result<Rows> rows = connection.QueryByKey(kClaim, {worker, most, Micros(lease)});
  if (!rows) return rows.error();
  std::vector<RuleTask> tasks;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    tasks.push_back({rows->Int(i, 0), rows->Int(i, 1), rows->Int(i, 2), rows->Int(i, 3),
                     static_cast<int>(rows->Int(i, 4))});
  }
  return tasks;
}

Result<bool> RenewRuleTask(Connection& connection, const RuleTask& task, Duration lease) {
  const Result<Rows> renewed =
      connection.QueryByKey(kRenew, {task.task_id, task.fence, Micros(lease)});
  if (!renewed) return renewed.error();
  return renewed->affected() == 1;
}

Status ReleaseRuleTasks(Connection& connection, const std::string& worker,
                        std::span<const std::int64_t> task_ids) {
  return Done(connection.QueryByKey(kRelease, {worker, Parameter::Array(task_ids)}));
}

Status JudgeOnceMore(Connection& connection, std::int64_t job_id) {
  return Done(connection.QueryByKey(kJudgeOnceMore, {job_id}));
}

}  // namespace stepscope
