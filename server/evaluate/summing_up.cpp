#include "server/evaluate/summing_up.h"

#include <algorithm>

#include "core/base/text.h"
#include "rules/catalog/catalog.h"

namespace stepscope {
namespace {

void Add(OtherRules& others, bool active, double share) {
  others.active = others.active || active;
  others.share = std::max(others.share, share);
}

// Verdicts are large, and are read only for rules that had no turn: mostly none.
Status AddStored(Connection& connection, std::int64_t job_id,
                 const std::vector<std::int64_t>& rule_config_ids, OtherRules& others) {
  if (rule_config_ids.empty()) return {};
  const auto stored = ListFiring(connection, job_id, rule_config_ids);
  if (!stored.ok()) return stored.error();
  for (const RuleFiring& rule : *stored) Add(others, rule.active, rule.share);
  return {};
}

}  // namespace

Result<OtherRules> ReadOtherRules(Connection& connection, const RuleTask& task,
                                  std::span<const RuleNow> now) {
  const auto rows = ListRuleStatuses(connection, task.job_id);
  if (!rows.ok()) return rows.error();
  OtherRules others;
  std::vector<std::int64_t> without_turn;  // rules that fired
  for (const RuleStateRow& row : *rows) {
    const std::int64_t id = row.config.rule_config_id;
    if (id == task.rule_config_id || SumsUp(row.config.rule)) continue;
    const auto turn = std::ranges::find(now, id, &RuleNow::rule_config_id);
    const bool had_turn = turn != now.end();
    const RuleStatus status = had_turn ? turn->status : row.status;
    ++others.count;
    if (status == RuleStatus::kInProgress || status == RuleStatus::kStopping) others.ended = false;
    if (status != RuleStatus::kIssuesFound) continue;
    others.fired.push_back(row.config.name);
    const bool new_status = had_turn && row.status != status;
    const Time at = FromMicros(new_status ? turn->at_us : row.changed_us);
    others.first = std::min(others.first.value_or(at), at);
    if (had_turn) Add(others, turn->active, turn->share);
    if (!had_turn) without_turn.push_back(id);
  }
  const Status added = AddStored(connection, task.job_id, without_turn, others);
  return added.ok() ? Result<OtherRules>(std::move(others)) : added.error();
}

void SumUp(const OtherRules& others, Verdict& verdict) {
  verdict.evidence["rules"] = others.count;
  verdict.evidence["rules_fired"] = others.fired;
  if (others.fired.empty()) return;
  verdict.kind = VerdictKind::kFinding;
  verdict.fired = verdict.fired ? std::min(*verdict.fired, *others.first) : others.first;
  verdict.active = others.active;
  verdict.share = others.share;
  std::string names;
  for (const std::string& name : others.fired) names += (names.empty() ? "" : ", ") + name;
  const std::string_view end = verdict.sentence.ends_with('.') ? "" : ".";
  verdict.sentence +=
      Format("{} {} of {} rules found issues: {}.", end, others.fired.size(), others.count, names);
}

}  // namespace stepscope
