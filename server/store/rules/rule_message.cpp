#include "server/store/rules/rule_message.h"

#include "core/base/text.h"
#include "server/store/jobs/job_rows.h"
#include "server/store/webhooks/deliveries.h"

namespace stepscope {
namespace {

// The status that receivers know: of a rule that is judged anew, the one before that.
RuleStatus ToldStatus(const RuleBefore& before) {
  if (!before.told.is_object()) return before.status;
  return ParseRuleStatus(before.told.value("status", "")).value_or(before.status);
}

// The event of this change; "" for none.
std::string EventOf(const RuleBefore& before, RuleStatus status, const Json& verdict) {
  if (status != ToldStatus(before)) {
    if (status == RuleStatus::kIssuesFound) return "rule.issues_found";
    if (status == RuleStatus::kError) return "rule.error";
  }
  const bool was_active = IsActive(before.told.is_object() ? before.told : before.verdict);
  return was_active && !IsActive(verdict) ? "rule.cleared" : "";
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
  return EnqueueDeliveries(connection, job_id, event, body, before.now_us);
}

}  // namespace stepscope
