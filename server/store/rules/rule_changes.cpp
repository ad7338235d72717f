#include "server/store/rules/rule_changes.h"

#include <algorithm>

#include "server/store/postgres/cursor.h"
#include "server/store/rules/create_job.h"
#include "server/store/rules/rule_message.h"

namespace stepscope {
namespace {

constexpr char kInsertConfigs[] = R"(
insert into rule_configs (job_id, name, rule, parameters)
select $1, name, rule, parameters::jsonb
from unnest($2::text[], $3::text[], $4::text[]) as given (name, rule, parameters)
returning rule_config_id)";
constexpr char kInsertStates[] = R"(
insert into rule_states (job_id, rule_config_id, changed_us)
select $1, rule_config_id, $3
from unnest($2::bigint[]) as given (rule_config_id))";
constexpr char kInsertTasks[] = R"(
insert into rule_tasks (job_id, rule_config_id, due_us)
select $1, rule_config_id, (extract(epoch from clock_timestamp()) * 1000000)::bigint
from unnest($2::bigint[]) as given (rule_config_id))";
// Locks in the order in which outcomes are written.
constexpr char kLockChangedStates[] = R"(
select rule_config_id
from rule_states
where job_id = $1
order by rule_config_id
limit 1000
for update)";
constexpr char kListConfigs[] = R"(
select rule_config_id, name, rule, parameters
from rule_configs
where job_id = $1
order by name
limit 1000)";
constexpr char kSaveParameters[] = R"(
update rule_configs
set parameters = $3
where job_id = $1 and rule_config_id = $2)";
constexpr char kAddTransitions[] = R"(
insert into status_transitions (job_id, rule_config_id, version, status, at_us, detail)
select job_id, rule_config_id, version + 1, 'InProgress', $3, $4
from rule_states
where job_id = $1 and rule_config_id = any($2) and status <> 'InProgress')";
constexpr char kBeginStates[] = R"(
update rule_states
set state = null, saved = null, verdict = '{}', evaluated_us = null, revision = revision + 1,
    told = coalesce(told, jsonb_set(('{"status": "' || status || '"}')::jsonb, '{active}',
        coalesce(verdict -> 'active', 'null'))),
    version = case when status = 'InProgress' then version else version + 1 end,
    changed_us = case when status = 'InProgress' then changed_us else $3 end,
    status = 'InProgress'
where job_id = $1 and rule_config_id = any($2))";
// An evaluation that is under way loses its fence.
constexpr char kBeginTasks[] = R"(
update rule_tasks
set state = 'ready', fence = fence + 1, attempt = 0, error = '',
    due_us = (extract(epoch from clock_timestamp()) * 1000000)::bigint
where job_id = $1 and rule_config_id = any($2))";
constexpr char kListActive[] = R"(
select c.name, c.rule, j.name, j.job_group, coalesce(s.told ->> 'status', s.status), s.verdict
from rule_states s
join rule_configs c using (job_id, rule_config_id)
join jobs j using (job_id)
where job_id = $1 and rule_config_id = any($2) and coalesce(s.told, s.verdict) -> 'active' = 'true'
order by c.name
limit 1000)";
constexpr char kForgetChangedFindings[] = R"(
delete from findings
where job_id = $1 and rule_config_id = any($2))";
// Locks tasks last, as outcomes do.
constexpr const char* kRemove[] = {
    "delete from rule_states where job_id = $1 and rule_config_id = any($2)",
    kForgetChangedFindings,
    "delete from status_transitions where job_id = $1 and rule_config_id = any($2)",
    "delete from rule_configs where job_id = $1 and rule_config_id = any($2)",
    "delete from rule_tasks where job_id = $1 and rule_config_id = any($2)"};
constexpr char kSaveConfiguration[] = R"(
update jobs
set configuration = configuration || jsonb_build_object('rules', $2::jsonb)
where job_id = $1)";

const RuleConfigRow* Find(std::span<const RuleConfigRow> configured, const std::string& name) {
  const auto found = std::ranges::find(configured, name, &RuleConfigRow::name);
  return found == configured.end() ? nullptr : &*found;
}

Result<std::vector<RuleConfigRow>> ListConfigs(Connection& connection, std::int64_t job_id) {
  const Result<Rows> rows = connection.Query(kListConfigs, {job_id});
  if (!rows) return rows.error();
  std::vector<RuleConfigRow> configs;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    configs.push_back(
        {job_id, rows->Int(i, 0), rows->Text(i, 1), rows->Text(i, 2), ReadJson(*rows, i, 3)});
  }
  return configs;
}

// Writes the job's rules into its configuration, which shows them.
Status SaveConfiguration(Connection& connection, std::int64_t job_id) {
  const auto configs = ListConfigs(connection, job_id);
  if (!configs) return configs.error();
  Json list = Json::array();
  for (const RuleConfigRow& config : *configs) {
    list.push_back(
        {{"name", config.name}, {"rule", config.rule}, {"parameters", config.parameters}});
  }
  const Result<Rows> saved = connection.Query(kSaveConfiguration, {job_id, Dump(list)});
  if (!saved) return saved.error();
  return saved->affected() > 0 ? Status() : Status(NotFound("the job is gone"));
}

Status BeginAnew(Connection& connection, std::int64_t job_id,
                 std::span<const std::int64_t> rule_config_ids, std::int64_t now_us) {
  if (rule_config_ids.empty()) return {};
  const Parameter ids = Parameter::Array(rule_config_ids);
  Status done = Done(connection.Query(
      kAddTransitions,
      {job_id, ids, now_us, "its parameters changed: judged anew from what is stored"}));
  if (done) done = Done(connection.Query(kBeginStates, {job_id, ids, now_us}));
  if (done) done = Done(connection.Query(kForgetChangedFindings, {job_id, ids}));
  return done ? Done(connection.Query(kBeginTasks, {job_id, ids})) : done;
}

// The rules that receivers were told fire, as they were told.
Result<std::vector<RuleBefore>> ListActive(Connection& connection, std::int64_t job_id,
                                           std::span<const std::int64_t> rule_config_ids,
                                           std::int64_t now_us) {
  const Result<Rows> rows =
      connection.Query(kListActive, {job_id, Parameter::Array(rule_config_ids)});
  if (!rows) return rows.error();
  std::vector<RuleBefore> active;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    RuleBefore rule;
    rule.config = rows->Text(i, 0);
    rule.rule = rows->Text(i, 1);
    rule.job = rows->Text(i, 2);
    rule.group = rows->Text(i, 3);
    rule.status = ParseRuleStatus(rows->Text(i, 4)).value_or(RuleStatus::kIssuesFound);
    rule.verdict = ReadJson(*rows, i, 5);
    rule.now_us = now_us;
    rule.verdict["active"] = true;
    active.push_back(std::move(rule));
  }
  return active;
}

Status Remove(Connection& connection, std::int64_t job_id,
              std::span<const std::int64_t> rule_config_ids) {
  Status done;
  for (const char* statement : kRemove) {
    if (done && !rule_config_ids.empty()) {
      done = Done(connection.Query(statement, {job_id, Parameter::Array(rule_config_ids)}));
    }
  }
  return done;
}

}  // namespace

Status AddRules(Connection& connection, std::int64_t job_id, std::span<const NewJob::Rule> rules,
                std::int64_t now_us) {
  std::vector<std::string> names, words, parameters;
  for (const NewJob::Rule& rule : rules) {
    names.push_back(rule.name);
    words.push_back(rule.rule);
    parameters.push_back(Dump(rule.parameters));
  }
  const Result<Rows> rows = connection.Query(
      kInsertConfigs,
      {job_id, Parameter::Array(names), Parameter::Array(words), Parameter::Array(parameters)});
  if (!rows) return rows.error();
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < rows->size(); ++i) ids.push_back(rows->Int(i, 0));
  const Parameter array = Parameter::Array(ids);
  Status done = Done(connection.Query(kInsertStates, {job_id, array, now_us}));
  return done ? Done(connection.Query(kInsertTasks, {job_id, array})) : done;
}

Status LockRuleStates(Connection& connection, std::int64_t job_id) {
  return Done(connection.Query(kLockChangedStates, {job_id}));
}

Result<std::vector<RuleConfigRow>> LockRules(Connection& connection, std::int64_t job_id) {
  if (const Status locked = LockRuleStates(connection, job_id); !locked) return locked.error();
  return ListConfigs(connection, job_id);
}

Status AnnounceGone(Connection& connection, std::int64_t job_id,
                    std::span<const std::int64_t> rule_config_ids, const std::string& why,
                    std::int64_t now_us, const std::string& public_url) {
  const auto active = ListActive(connection, job_id, rule_config_ids, now_us);
  if (!active) return active.error();
  Status done;
  for (const RuleBefore& rule : *active) {
    Json verdict = rule.verdict;
    verdict["active"] = false;
    const RuleChange gone{rule.status, verdict, why, rule.now_us};
    if (done) done = AnnounceRule(connection, job_id, rule, gone, public_url);
  }
  return done;
}

Status ChangeRules(Connection& connection, std::int64_t job_id,
                   std::span<const RuleConfigRow> configured, const RuleChanges& changes,
                   std::int64_t now_us, const std::string& public_url) {
  std::vector<NewJob::Rule> added;
  std::vector<std::int64_t> changed, removed, telling;
  Status done;
  for (const NewJob::Rule& rule : changes.put) {
    const RuleConfigRow* known = Find(configured, rule.name);
    if (!known) added.push_back(rule);
    if (!done || !known || known->parameters == rule.parameters) continue;
    changed.push_back(known->rule_config_id);
    done = Done(
        connection.Query(kSaveParameters, {job_id, known->rule_config_id, Dump(rule.parameters)}));
  }
  for (const std::string& name : changes.removed) {
    const RuleConfigRow* known = Find(configured, name);
    if (!known) continue;
    removed.push_back(known->rule_config_id);
    if (std::ranges::count(changes.quiet, name) == 0) telling.push_back(known->rule_config_id);
  }
  if (added.empty() && changed.empty() && removed.empty()) return done;
  if (done) {
    done = AnnounceGone(connection, job_id, telling, "the rule was removed from the job", now_us,
                        public_url);
  }
  if (done) done = BeginAnew(connection, job_id, changed, now_us);
  if (done) done = Remove(connection, job_id, removed);
  if (done && !added.empty()) done = AddRules(connection, job_id, added, now_us);
  return done ? SaveConfiguration(connection, job_id) : done;
}

}  // namespace stepscope
