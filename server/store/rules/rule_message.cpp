#include "server/store/rules/rule_message.h"

#include "core/base/text.h"
#include "server/store/jobs/job_rows.h"
#include "server/store/webhooks/enqueue.h"

namespace stepscope {
namespace {

// The status that receivers know: of a rule that is judged anew, the one before that.
RuleStatus ToldStatus(const RuleBefore& before) {
  if (!before.told.is_object()) return before.status;
  return ParseRuleStatus(before.told.value("status", "")).value_or(before.status);
}

// Whether receivers know that the rule finds something at present.
bool ToldActive(const RuleBefore& before) {
  return IsActive(before.told.is_object() ? before.told : before.verdict);
}

// The event of this change; "" for none.
std::string EventOf(const RuleBefore& before, RuleStatus status, const Json& verdict) {
  if (status != ToldStatus(before)) {
    if (status == RuleStatus::kIssuesFound) return "rule.issues_found";
    if (status == RuleStatus::kError) return "rule.error";
  }
  return ToldActive(before) && !IsActive(verdict) ? "rule.cleared" : "";
}

// The verdict without its evidence: messages are small.
Json InShort(Json verdict) {
  if (verdict.is_object()) verdict.erase("evidence");
  return verdict;
}

}  // namespace

bool IsActive(const Json& verdict) {
  return verdict.is_object() && verdict.value("active", Json(false)) == true;
}

Status AnnounceRule(Connection& connection, std::int64_t job_id, const RuleBefore& before,
                    const RuleChange& change, const std::string& public_url) {
  std::string event = EventOf(before, change.status, change.verdict);
  const bool at_once = !event.empty();
  const bool active = IsActive(change.verdict);
  // A rule that finds something once more is told only to webhooks that wait until it has lasted.
  if (!at_once && change.status == RuleStatus::kIssuesFound && active && !ToldActive(before)) {
    event = "rule.issues_found";
  }
  if (event.empty()) return {};
  if (event != "rule.issues_found") {
    const Status withdrawn = WithdrawFindings(connection, job_id, before.config);
    if (!withdrawn) return withdrawn;
  }
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
  const bool lasting = active || event != "rule.issues_found";
  return EnqueueFinding(connection,
                        {job_id, before.now_us, event, before.config, body, at_once, lasting});
}

}  // namespace stepscope
