#include "server/store/rules/rule_outcome.h"

// Writes an evaluation's outcome: saved state, verdict, findings, status, transition and messages,
// all in one transaction that only the holder of the task's fence can commit.

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "core/base/text.h"
#include "server/store/postgres/cursor.h"
#include "server/store/rules/rule_message.h"
#include "server/store/rules/rules.h"

namespace stepscope {
namespace {

// A rule is next due at the next of its job's times, which are a slot apart: so the rules of a job
// stay together, a slow evaluation delays no later one, and one that comes too late is skipped.
constexpr char kFinishTasks[] = R"(
with clock as materialized (
    select (extract(epoch from statement_timestamp()) * 1000000)::bigint as now_us
)
update rule_tasks t
set state = given.state, attempt = 0, error = '',
    due_us = case
        when given.state = 'done' then null
        when wait_us > 0 then now_us + wait_us - (now_us - wait_us * $5 / 1000000) % wait_us
        else now_us
    end
from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[])
    as given (task_id, fence, state, wait_us), clock
where t.task_id = given.task_id and t.fence = given.fence and t.state = 'running'
returning t.task_id)";
// After the last attempt the task is done.
constexpr char kFailTask[] = R"(
update rule_tasks
set state = case when attempt >= $3 then 'done' else 'ready' end, error = $4,
    due_us = case when attempt < $3 then
        (extract(epoch from clock_timestamp()) * 1000000)::bigint
            + 5000000::bigint * (1 << least(attempt, 10)) / 2
    end
where task_id = $1 and fence = $2 and state = 'running'
returning state)";
constexpr char kLockJudgedStates[] = R"(
select s.status, s.version, s.revision, s.verdict - 'evidence', c.name, c.rule, j.name, j.job_group,
    (extract(epoch from clock_timestamp()) * 1000000)::bigint, rule_config_id,
    s.told
from rule_states s
join rule_configs c using (job_id, rule_config_id)
join jobs j using (job_id)
where job_id = $1 and rule_config_id = any($2)
order by rule_config_id
for update of s)";
constexpr char kSaveStates[] = R"(
update rule_states s
set saved = given.saved, saved_revision = revision + 1, state = null,
    verdict = given.verdict::jsonb, revision = revision + 1, evaluated_us = $5,
    told = case
        when given.progress = 'begins' then coalesce(s.told,
            jsonb_set(('{"status": "' || s.status || '"}')::jsonb, '{active}',
                coalesce(s.verdict -> 'active', 'null')))
        when given.progress = 'goes on' then s.told
    end
from unnest($2::bigint[], $3::bytea[], $4::text[], $6::text[])
    as given (rule_config_id, saved, verdict, progress)
where s.job_id = $1 and s.rule_config_id = given.rule_config_id)";
constexpr char kSaveStatus[] = R"(
update rule_states
set status = $3, version = $4, changed_us = $5
where job_id = $1 and rule_config_id = $2)";
constexpr char kAddTransition[] = R"(
insert into status_transitions (job_id, rule_config_id, version, status, at_us, detail)
values ($1, $2, $3, $4, $5, $6))";
constexpr char kForgetJudgedFindings[] = R"(
delete from findings
where job_id = $1 and rule_config_id = $2)";
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

Error NotOurs(const RuleTask& task) {
  return Conflict(Format("rule task {} is no longer ours", task.task_id));
}

using States = std::map<std::int64_t, RuleBefore>;  // by rule_config_id

Result<States> LockStates(Connection& connection, std::int64_t job_id,
                          std::span<const std::int64_t> rule_config_ids) {
  const Result<Rows> rows =
      connection.QueryByKey(kLockJudgedStates, {job_id, Parameter::Array(rule_config_ids)});
  if (!rows) return rows.error();
  States states;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    states[rows->Int(i, 9)] = {ParseRuleStatus(rows->Text(i, 0)).value_or(RuleStatus::kInProgress),
                               rows->Int(i, 1),
                               rows->Int(i, 2),
                               rows->Int(i, 8),
                               ReadJson(*rows, i, 3),
                               rows->Text(i, 4),
                               rows->Text(i, 5),
                               rows->Text(i, 6),
                               rows->Text(i, 7),
                               ReadJson(*rows, i, 10)};
  }
  return states;
}

Status SaveStatus(Connection& connection, const RuleTask& task, const RuleBefore& before,
                  const RuleChange& change) {
  if (change.status == before.status) return {};
  const std::string status(ToText(change.status));
  const std::int64_t version = before.version + 1;
  const Status saved = Done(connection.QueryByKey(
      kSaveStatus, {task.job_id, task.rule_config_id, status, version, change.at_us}));
  if (!saved) return saved;
  return Done(connection.QueryByKey(kAddTransition, {task.job_id, task.rule_config_id, version,
                                                     status, change.at_us, change.detail}));
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
  return Done(connection.QueryByKey(
      kSaveFindings,
      {task.job_id, task.rule_config_id, Parameter::Array(numbers), Parameter::Array(from),
       Parameter::Array(to), Parameter::Array(nodes), Parameter::Array(devices),
       Parameter::Array(ranks), Parameter::Array(sentences), Parameter::Array(evidence)}));
}

using Outcomes = std::vector<const Evaluated*>;

std::vector<std::int64_t> ConfigsOf(const Outcomes& outcomes) {
  std::vector<std::int64_t> configs;
  for (const Evaluated* outcome : outcomes) configs.push_back(outcome->task.rule_config_id);
  return configs;
}

// The outcomes whose state nobody else has written since it was loaded.
Outcomes Unwritten(const Outcomes& outcomes, const States& before) {
  Outcomes unwritten;
  std::ranges::copy_if(outcomes, std::back_inserter(unwritten), [&](const Evaluated* outcome) {
    const auto state = before.find(outcome->task.rule_config_id);
    return state != before.end() && state->second.revision == outcome->revision;
  });
  return unwritten;
}

// The time within a slot at which a job is due, in millionths: spread by the golden ratio, so that
// any consecutive jobs are far apart.
std::int64_t OffsetInSlot(std::int64_t job_id) {
  return job_id % 1'000'000 * 618'034 % 1'000'000;
}

// Ends the tasks whose fence is still ours, and returns their outcomes.
Result<Outcomes> FinishTasks(Connection& connection, const Outcomes& outcomes) {
  if (outcomes.empty()) return outcomes;
  std::vector<std::int64_t> tasks, fences, waits;
  std::vector<std::string> states;
  for (const Evaluated* outcome : outcomes) {
    tasks.push_back(outcome->task.task_id);
    fences.push_back(outcome->task.fence);
    states.emplace_back(outcome->last ? "done" : "ready");
    waits.push_back(Micros(outcome->next_in));
  }
  const Result<Rows> rows = connection.QueryByKey(
      kFinishTasks, {Parameter::Array(tasks), Parameter::Array(fences), Parameter::Array(states),
                     Parameter::Array(waits), OffsetInSlot(outcomes.front()->task.job_id)});
  if (!rows) return rows.error();
  std::set<std::int64_t> finished;
  for (std::size_t i = 0; i < rows->size(); ++i) finished.insert(rows->Int(i, 0));
  Outcomes ours;
  std::ranges::copy_if(outcomes, std::back_inserter(ours), [&](const Evaluated* outcome) {
    return finished.contains(outcome->task.task_id);
  });
  return ours;
}

Status SaveStates(Connection& connection, const Outcomes& outcomes, std::int64_t now_us) {
  std::vector<std::string_view> saved;
  std::vector<std::string> verdicts, progress;
  for (const Evaluated* outcome : outcomes) {
    saved.emplace_back(outcome->saved);
    verdicts.push_back(Dump(outcome->verdict));
    progress.emplace_back(!outcome->behind ? "" : outcome->anew ? "begins" : "goes on");
  }
  return Done(connection.QueryByKey(
      kSaveStates, {outcomes.front()->task.job_id, Parameter::Array(ConfigsOf(outcomes)),
                    Parameter::BytesArray(saved), Parameter::Array(verdicts), now_us,
                    Parameter::Array(progress)}));
}

// Saves status, findings and messages of one rule; its state is saved already.
Status SaveOutcome(Connection& connection, const Evaluated& outcome, const RuleBefore& before,
                   const std::string& public_url) {
  const RuleChange change{outcome.status, outcome.verdict, outcome.detail, outcome.at_us};
  const RuleTask& task = outcome.task;
  Status done = SaveStatus(connection, task, before, change);
  if (done && outcome.anew) {
    done = Done(connection.QueryByKey(kForgetJudgedFindings, {task.job_id, task.rule_config_id}));
  }
  if (done) done = SaveFindings(connection, task, outcome.findings);
  const bool repeats = outcome.anew || before.told.is_object();
  if (!done || outcome.quiet || (outcome.behind && repeats)) return done;
  return AnnounceRule(connection, task.job_id, before, change, public_url);
}

}  // namespace

Result<std::size_t> FinishRuleTasks(Connection& connection, std::span<const Evaluated> outcomes,
                                    const std::string& public_url) {
  Outcomes all;
  for (const Evaluated& outcome : outcomes) all.push_back(&outcome);
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  const std::int64_t job_id = all.front()->task.job_id;
  const Result<States> before = LockStates(connection, job_id, ConfigsOf(all));
  if (!before) return before.error();
  const Result<Outcomes> ours = FinishTasks(connection, Unwritten(all, *before));
  if (!ours) return ours.error();
  if (ours->empty()) return all.size();
  Status done = SaveStates(connection, *ours, before->begin()->second.now_us);
  for (std::size_t i = 0; done && i < ours->size(); ++i) {
    const Evaluated& outcome = *(*ours)[i];
    done = SaveOutcome(connection, outcome, before->at(outcome.task.rule_config_id), public_url);
  }
  if (done) done = transaction->Commit();
  if (!done) return done.error();
  return all.size() - ours->size();
}

Status FinishRuleTask(Connection& connection, const Evaluated& evaluated,
                      const std::string& public_url) {
  const auto lost = FinishRuleTasks(connection, {&evaluated, 1}, public_url);
  if (!lost.ok()) return lost.error();
  return *lost == 0 ? Status() : NotOurs(evaluated.task);
}

Status FailRuleTask(Connection& connection, const RuleTask& task, const std::string& error,
                    const std::string& public_url) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  const Result<States> states = LockStates(connection, task.job_id, {&task.rule_config_id, 1});
  if (!states) return states.error();
  if (states->empty()) return NotOurs(task);
  const Result<Rows> failed =
      connection.QueryByKey(kFailTask, {task.task_id, task.fence, kMostAttempts, error});
  if (!failed) return failed.error();
  if (failed->empty()) return NotOurs(task);
  if (failed->Text(0, 0) != "done") return transaction->Commit();
  const RuleBefore& before = states->begin()->second;
  const RuleChange change{RuleStatus::kError, before.verdict, error, before.now_us};
  Status done = SaveStatus(connection, task, before, change);
  if (done) done = AnnounceRule(connection, task.job_id, before, change, public_url);
  return done ? transaction->Commit() : done;
}

}  // namespace stepscope
