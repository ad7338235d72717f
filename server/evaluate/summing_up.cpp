#include "server/evaluate/summing_up.h"

#include <algorithm>

#include "core/base/text.h"

namespace stepscope {

Result<OtherRules> ReadOtherRules(Connection& connection, const RuleTask& task,
                                  std::span<const RuleNow> now) {
  const auto rows = ListRuleStatuses(connection, task.job_id);
  if (!rows.ok()) return rows.error();
  OtherRules others;
  for (const RuleStateRow& row : *rows) {
    const std::int64_t id = row.config.rule_config_id;
    if (id == task.rule_config_id) continue;
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
  }
  return others;
}

void SumUp(const OtherRules& others, Verdict& verdict) {
  verdict.evidence["rules"] = others.count;
  verdict.evidence["rules_fired"] = others.fired;
  if (others.fired.empty()) return;
  verdict.kind = VerdictKind::kFinding;
  verdict.fired = others.first;
  verdict.active = true;
  std::string names;
  for (const std::string& name : others.fired) names += (names.empty() ? "" : ", ") + name;
  const std::string_view end = verdict.sentence.ends_with('.') ? "" : ".";
  verdict.sentence +=
      Format("{} {} of {} rules found issues: {}.", end, others.fired.size(), others.count, names);
}

}  // namespace stepscope
