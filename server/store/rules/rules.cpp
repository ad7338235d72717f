
#include "server/store/rules/rules.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

// The rules of a job and what became of them are read by a statement each, and are joined here:
// Citus takes twice as long to plan a join. A verdict is read as text, which Citus hands on as it
// is; JSON it reads and writes once more.
constexpr char kConfigs[] = R"(
select rule_config_id, name, rule, parameters
from rule_configs
where job_id = $1
order by name
limit 1000)";
constexpr std::string_view kStates = R"(
select rule_config_id, status, version, revision, changed_us, evaluated_us, {}
from rule_states
where job_id = $1
order by rule_config_id
limit 1000)";
constexpr char kLoad[] = R"(
select rule_config_id, c.name, c.rule, c.parameters, s.status, s.version, s.revision,
    s.changed_us, s.evaluated_us,
    case when s.saved_revision = s.revision then s.saved end, s.state is not null
from rule_configs c
join rule_states s using (job_id, rule_config_id)
where job_id = $1 and rule_config_id = any($2))";
constexpr char kListFiring[] = R"(
select rule_config_id, coalesce(verdict -> 'active' = 'true', false),
    coalesce((verdict ->> 'share')::double precision, 0)
from rule_states
where job_id = $1 and rule_config_id = any($2)
order by rule_config_id
limit 1000)";
constexpr char kLongest[] = R"(
select rule_config_id, finding, from_us, to_us, name, node, device, sentence, rank, evidence, total
from (
    select rule_config_id, finding, from_us, to_us, c.name, node, device, sentence, rank, evidence,
        count(*) over (partition by rule_config_id) as total,
        row_number() over (
            partition by rule_config_id order by to_us - from_us desc, from_us, finding) as place
    from findings f
    join rule_configs c using (job_id, rule_config_id)
    where job_id = $1) ranked
where place <= $2
order by rule_config_id, place
limit 100000)";
constexpr char kFindingsFilter[] = R"(
from findings f
join rule_configs c using (job_id, rule_config_id)
where job_id = $1 and ($2 = '' or c.name = $2))";

RuleConfigRow ReadConfig(const Rows& rows, std::size_t row, std::int64_t job_id) {
  return {job_id, rows.Int(row, 0), rows.Text(row, 1), rows.Text(row, 2), ReadJson(rows, row, 3)};
}

// The state in the columns from `first` on: status, version, revision, changed_us, evaluated_us.
RuleStateRow ReadState(const Rows& rows, std::size_t row, std::size_t first) {
  RuleStateRow state;
  state.status = ParseRuleStatus(rows.Text(row, first)).value_or(RuleStatus::kInProgress);
  state.version = rows.Int(row, first + 1);
  state.revision = rows.Int(row, first + 2);
  state.changed_us = rows.Int(row, first + 3);
  state.evaluated_us = rows.MaybeInt(row, first + 4);
  return state;
}

// With the states' own statement: with verdicts or without.
Result<std::vector<RuleStateRow>> ListRules(Connection& connection, std::int64_t job_id,
                                            Statement states) {
  const auto rows =
      connection.QueryTogether(std::vector<Statement>{RuleConfigs(job_id), std::move(states)});
  if (!rows) return rows.error();
  return ReadRuleRows((*rows)[0], (*rows)[1], job_id);
}

FindingRow ReadFinding(const Rows& rows, std::size_t row) {
  FindingRow finding;
  finding.rule_config_id = rows.Int(row, 0);
  finding.finding = rows.Int(row, 1);
  finding.from_us = rows.Int(row, 2);
  finding.to_us = rows.Int(row, 3);
  finding.rule_name = rows.Text(row, 4);
  finding.node = rows.Text(row, 5);
  finding.device = rows.Text(row, 6);
  finding.sentence = rows.Text(row, 7);
  finding.rank = static_cast<int>(rows.Int(row, 8));
  finding.evidence = ReadJson(rows, row, 9);
  return finding;
}

}  // namespace

Statement RuleConfigs(std::int64_t job_id) {
  return {kConfigs, {job_id}};
}

Statement RuleStates(std::int64_t job_id) {
  static const std::string sql = Format(kStates, "verdict::text");
  return {sql, {job_id}};
}

std::vector<RuleStateRow> ReadRuleRows(const Rows& configs, const Rows& states,
                                       std::int64_t job_id) {
  std::map<std::int64_t, std::size_t> row_of;  // place of the state, by rule_config_id
  for (std::size_t i = 0; i < states.size(); ++i) row_of[states.Int(i, 0)] = i;
  std::vector<RuleStateRow> rules;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const auto row = row_of.find(configs.Int(i, 0));
    if (row == row_of.end()) continue;
    RuleStateRow& rule = rules.emplace_back(ReadState(states, row->second, 1));
    rule.config = ReadConfig(configs, i, job_id);
    rule.verdict = ReadJson(states, row->second, 6);
  }
  return rules;
}

Result<std::vector<RuleStateRow>> ListRuleStates(Connection& connection, std::int64_t job_id) {
  return ListRules(connection, job_id, RuleStates(job_id));
}

Result<std::vector<RuleStateRow>> ListRuleStatuses(Connection& connection, std::int64_t job_id) {
  static const std::string sql = Format(kStates, "null::text");
  return ListRules(connection, job_id, {sql, {job_id}});
}

Result<std::vector<RuleStateRow>> LoadRuleStates(Connection& connection, std::int64_t job_id,
                                                 std::span<const std::int64_t> rule_config_ids) {
  const Result<Rows> rows =
      connection.QueryByKey(kLoad, {job_id, Parameter::Array(rule_config_ids)});
  if (!rows) return rows.error();
  std::vector<RuleStateRow> states;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    RuleStateRow& state = states.emplace_back(ReadState(*rows, i, 4));
    state.config = ReadConfig(*rows, i, job_id);
    state.saved = rows->Bytes(i, 9);
    state.by_older = rows->Bool(i, 10);
  }
  return states;
}

Result<RuleStateRow> LoadRuleState(Connection& connection, std::int64_t job_id,
                                   std::int64_t rule_config_id) {
  auto states = LoadRuleStates(connection, job_id, {&rule_config_id, 1});
  if (!states.ok()) return states.error();
  if (!states->empty()) return std::move(states->front());
  return NotFound(Format("rule {} of job {} not found", rule_config_id, job_id));
}

Result<std::vector<RuleFiring>> ListFiring(Connection& connection, std::int64_t job_id,
                                           std::span<const std::int64_t> rule_config_ids) {
  const Result<Rows> rows =
      connection.QueryByKey(kListFiring, {job_id, Parameter::Array(rule_config_ids)});
  if (!rows) return rows.error();
  std::vector<RuleFiring> firing;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    firing.push_back({rows->Int(i, 0), rows->Bool(i, 1), rows->Real(i, 2)});
  }
  return firing;
}

// Sorted by time; a cursor holds (from, rule, number).
Result<FindingPage> ListFindings(Connection& connection, std::int64_t job_id,
                                 const std::string& rule_name, const std::string& after,
                                 int limit) {
  Json position = Json::array({INT64_MIN, 0, 0});
  if (!after.empty()) {
    const Result<Json> given = DecodeCursor(after, position);
    if (!given) return given.error();
    position = *given;
  }
  const Result<Rows> total =
      connection.Query(std::string("select count(*) ") + kFindingsFilter, {job_id, rule_name});
  if (!total) return total.error();
  const Result<Rows> rows = connection.Query(
      Format(
          "select rule_config_id, finding, from_us, to_us, c.name, node, device, sentence, rank, "
          "evidence {} and (from_us, rule_config_id, finding) > ($3, $4, $5) "
          "order by from_us, rule_config_id, finding limit {}",
          kFindingsFilter, limit + 1),
      {job_id, rule_name, position[0].get<std::int64_t>(), position[1].get<std::int64_t>(),
       position[2].get<std::int64_t>()});
  if (!rows) return rows.error();
  FindingPage page;
  page.total = total->Int(0, 0);
  const std::size_t most = static_cast<std::size_t>(limit);
  for (std::size_t i = 0; i < std::min(rows->size(), most); ++i) {
    page.items.push_back(ReadFinding(*rows, i));
  }
  if (rows->size() <= most) return page;
  const FindingRow& last = page.items.back();
  page.next = EncodeCursor(Json::array({last.from_us, last.rule_config_id, last.finding}));
  return page;
}

Result<std::map<std::int64_t, RuleFindings>> ListLongestFindings(Connection& connection,
                                                                 std::int64_t job_id,
                                                                 int most_each) {
  const Result<Rows> rows = connection.Query(kLongest, {job_id, most_each});
  if (!rows) return rows.error();
  std::map<std::int64_t, RuleFindings> found;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    RuleFindings& rule = found[rows->Int(i, 0)];
    rule.longest.push_back(ReadFinding(*rows, i));
    rule.total = rows->Int(i, 10);
  }
  return found;
}

}  // namespace stepscope
