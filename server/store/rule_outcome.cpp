// What an evaluation leaves: state, watermark, verdict, findings, status, transition and messages,
// all in one transaction that only the holder of the task's fence can commit.

#include "core/base/text.h"
#include "server/store/cells.h"
#include "server/store/job_rows.h"
#include "server/store/rules.h"
#include "server/store/webhooks.h"

namespace stepscope {
namespace {

constexpr char kFinishTask[] = R"(
update rule_tasks
set state = $3, attempt = 0, error = '',
    due_us = (extract(epoch from clock_timestamp()) * 1000000)::bigint + $4
where task_id = $1 and fence = $2 and state = 'running')";
// After the last attempt the task is done.
constexpr char kFailTask[] = R"(
update rule_tasks
set state = case when attempt >= $3 then 'done' else 'ready' end, error = $4,
    due_us = (extract(epoch from clock_timestamp()) * 1000000)::bigint
        + 5000000::bigint * (1 << least(attempt, 10)) / 2
where task_id = $1 and fence = $2 and state = 'running'
returning state)";
constexpr char kLockState[] = R"(
select s.status, s.version, s.revision, s.verdict, c.name, c.rule, j.name, j.job_group,
    (extract(epoch from clock_timestamp()) * 1000000)::bigint
from rule_states s
join rule_configs c using (job_id, rule_config_id)
join jobs j using (job_id)
where job_id = $1 and rule_config_id = $2
for update of s)";
constexpr char kSaveState[] = R"(
update rule_states
set state = $3, watermark = $4, verdict = $5, revision = revision + 1, evaluated_us = $6
where job_id = $1 and rule_config_id = $2)";
constexpr char kSaveStatus[] = R"(
update rule_states
set status = $3, version = $4, changed_us = $5
where job_id = $1 and rule_config_id = $2)";
constexpr char kAddTransition[] = R"(
insert into status_transitions (job_id, rule_config_id, version, status, at_us, detail)
values ($1, $2, $3, $4, $5, $6))";
constexpr char kSaveFindings[] = R"(
insert into findings (job_id, rule_config_id, finding, from_us, to_us, node, device, rank,
    sentence, evidence)
select $1, $2, finding, from_us, to_us, node, device, rank, sentence, evidence::jsonb
from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::bigint[],
    $9::text[], $10::text[])
    as given (finding, from_us, to_us, node, device, rank, sentence, evidence)
on conflict (job_id, rule_config_id, finding) do update
set from_us = excluded.from_us, to_us = excluded.to_us, node = excluded.node,
    device = excluded.device, rank = excluded.rank, sentence = excluded.sentence,
    evidence = excluded.evidence)";

// What stands before the change, locked.
struct Before {
  RuleStatus status = RuleStatus::kInProgress;
  std::int64_t version = 0, revision = 0, now_us = 0;
  Json verdict;
  std::string config, rule, job, group;
};

Error NotOurs(const RuleTask& task) {
  return Conflict(Format("rule task {} is no longer ours", task.task_id));
}

Result<Before> LockState(Connection& connection, const RuleTask& task) {
  const Result<Rows> rows = connection.Query(kLockState, {task.job_id, task.rule_config_id});
  if (!rows) return rows.error();
  if (rows->empty()) return NotOurs(task);
  return Before{ParseRuleStatus(rows->Text(0, 0)).value_or(RuleStatus::kInProgress),
                rows->Int(0, 1),
                rows->Int(0, 2),
                rows->Int(0, 8),
                ReadJson(*rows, 0, 3),
                rows->Text(0, 4),
                rows->Text(0, 5),
                rows->Text(0, 6),
                rows->Text(0, 7)};
}

bool IsActive(const Json& verdict) {
  return verdict.is_object() && verdict.value("active", Json(false)) == true;
}

// The message that this change is worth; "" for none.
std::string EventOf(const Before& before, RuleStatus status, const Json& verdict) {
  if (status != before.status) {
    if (status == RuleStatus::kIssuesFound) return "rule.issues_found";
    if (status == RuleStatus::kError) return "rule.error";
  }
  return IsActive(before.verdict) && !IsActive(verdict) ? "rule.cleared" : "";
}

// The verdict without its evidence: messages are small.
Json InShort(Json verdict) {
  if (verdict.is_object()) verdict.erase("evidence");
  return verdict;
}

struct Change {
  RuleStatus status;
  const Json& verdict;
  const std::string& detail;
  std::int64_t at_us;
};

Status Announce(Connection& connection, const RuleTask& task, const Before& before,
                const Change& change, const std::string& public_url) {
  const std::string event = EventOf(before, change.status, change.verdict);
  if (event.empty()) return {};
  const Json body = {{"type", event},
                     {"timestamp", ToRfc3339(FromMicros(change.at_us))},
                     {"data",
                      {{"job", before.job},
                       {"group", before.group},
                       {"rule_configuration_name", before.config},
                       {"rule", before.rule},
                       {"status", ToText(change.status)},
                       {"detail", change.detail},
                       {"verdict", InShort(change.verdict)},
                       {"url", JobUrl(public_url, before.job)}}}};
  return EnqueueDeliveries(connection, task.job_id, event, body, before.now_us);
}

Status SaveStatus(Connection& connection, const RuleTask& task, const Before& before,
                  const Change& change) {
  if (change.status == before.status) return {};
  const std::string status(ToText(change.status));
  const std::int64_t version = before.version + 1;
  const Status saved = Done(connection.Query(
      kSaveStatus, {task.job_id, task.rule_config_id, status, version, change.at_us}));
  if (!saved) return saved;
  return Done(connection.Query(kAddTransition, {task.job_id, task.rule_config_id, version, status,
                                                change.at_us, change.detail}));
}

Status SaveFindings(Connection& connection, const RuleTask& task,
                    const std::vector<FindingRow>& findings) {
  if (findings.empty()) return {};
  std::vector<std::int64_t> numbers, from, to, ranks;
  std::vector<std::string> nodes, devices, sentences, evidence;
  for (const FindingRow& finding : findings) {
    numbers.push_back(finding.finding);
    from.push_back(finding.from_us);
    to.push_back(finding.to_us);
    ranks.push_back(finding.rank);
    nodes.push_back(finding.node);
    devices.push_back(finding.device);
    sentences.push_back(finding.sentence);
    evidence.push_back(Dump(finding.evidence));
  }
  return Done(connection.Query(
      kSaveFindings,
      {task.job_id, task.rule_config_id, Parameter::Array(numbers), Parameter::Array(from),
       Parameter::Array(to), Parameter::Array(nodes), Parameter::Array(devices),
       Parameter::Array(ranks), Parameter::Array(sentences), Parameter::Array(evidence)}));
}

}  // namespace

Status FinishRuleTask(Connection& connection, const Evaluated& evaluated,
                      const std::string& public_url) {
  const RuleTask& task = evaluated.task;
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  const Result<Rows> ours = connection.Query(
      kFinishTask,
      {task.task_id, task.fence, evaluated.last ? "done" : "ready", Micros(evaluated.next_in)});
  if (!ours) return ours.error();
  if (ours->affected() == 0) return NotOurs(task);
  const Result<Before> before = LockState(connection, task);
  if (!before) return before.error();
  if (before->revision != evaluated.revision) return NotOurs(task);
  const Change change{evaluated.status, evaluated.verdict, evaluated.detail, evaluated.at_us};
  Status done = Done(connection.Query(
      kSaveState, {task.job_id, task.rule_config_id, Dump(evaluated.state),
                   Dump(evaluated.watermark), Dump(evaluated.verdict), before->now_us}));
  if (done) done = SaveStatus(connection, task, *before, change);
  if (done) done = SaveFindings(connection, task, evaluated.findings);
  if (done) done = Announce(connection, task, *before, change, public_url);
  return done ? transaction->Commit() : done;
}

Status FailRuleTask(Connection& connection, const RuleTask& task, const std::string& error,
                    const std::string& public_url) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  const Result<Rows> failed =
      connection.Query(kFailTask, {task.task_id, task.fence, kMostAttempts, error});
  if (!failed) return failed.error();
  if (failed->empty()) return NotOurs(task);
  if (failed->Text(0, 0) != "done") return transaction->Commit();
  const Result<Before> before = LockState(connection, task);
  if (!before) return before.error();
  const Change change{RuleStatus::kError, before->verdict, error, before->now_us};
  Status done = SaveStatus(connection, task, *before, change);
  if (done) done = Announce(connection, task, *before, change, public_url);
  return done ? transaction->Commit() : done;
}

}  // namespace stepscope
