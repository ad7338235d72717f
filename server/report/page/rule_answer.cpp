#include "server/report/page/rule_answer.h"

#include "core/base/json_members.h"

namespace stepscope {
namespace {

// The sentence of the newest verdict while the rule is judged or has fired, for its numbers are
// new; the sentence of the change for what is final.
std::string Details(const RuleStateRow& state, std::span<const TransitionRow> transitions) {
  std::string details = TextOf(state.verdict, "sentence");
  if (state.status == RuleStatus::kInProgress || state.status == RuleStatus::kIssuesFound) {
    return details;
  }
  std::int64_t newest = 0;  // ordered by version, for the time of a change is data time
  for (const TransitionRow& transition : transitions) {
    if (transition.rule_config_id != state.config.rule_config_id) continue;
    if (transition.detail.empty() || transition.version < newest) continue;
    newest = transition.version;
    details = transition.detail;
  }
  return details;
}

// Low, medium or high; null for "none".
OrderedJson SeverityOf(const Json& verdict) {
  const std::string severity = TextOf(verdict, "severity");
  return severity == "none" ? OrderedJson(nullptr) : NullIfEmpty(severity);
}

}  // namespace

OrderedJson ToJson(const RuleStateRow& state, std::span<const TransitionRow> transitions) {
  const Json& verdict = state.verdict;
  const std::string kind = TextOf(verdict, "kind");
  const bool judged = kind == "clear" || kind == "finding";
  const std::string sentence = TextOf(verdict, "sentence");
  OrderedJson json = {{"rule_configuration_name", state.config.name},
                      {"rule", state.config.rule},
                      {"rule_evaluation_status", ToText(state.status)},
                      {"status_details", NullIfEmpty(Details(state, transitions))}};
  PutTime(json, "last_modified_time", state.changed_us);
  json["verdict"] = {{"kind", judged ? kind : "unknown"},
                     {"sentence", sentence.empty() && !judged ? "not evaluated yet" : sentence}};
  const auto share = verdict.find("share");
  const bool has_share = judged && share != verdict.end() && share->is_number();
  json["share"] = has_share ? OrderedJson(Rounded(share->get<double>())) : OrderedJson(nullptr);
  json["severity"] = SeverityOf(verdict);
  const auto active = verdict.find("active");
  json["active"] = active != verdict.end() && active->is_boolean() && active->get<bool>();
  return json;
}

OrderedJson WholeRule(const RuleStateRow& state, std::span<const TransitionRow> transitions) {
  OrderedJson json = ToJson(state, transitions);
  json["parameters"] = state.config.parameters;
  const auto evidence = state.verdict.find("evidence");
  const bool has_evidence = evidence != state.verdict.end() && evidence->is_object();
  json["evidence"] = has_evidence ? *evidence : Json::object();
  PutTime(json, "evaluated", state.evaluated_us);
  return json;
}

OrderedJson ToJson(const FindingRow& finding) {
  OrderedJson json = {{"rule_configuration_name", finding.rule_name}, {"finding", finding.finding}};
  PutTime(json, "from", finding.from_us);
  PutTime(json, "to", finding.to_us);
  json["node"] = NullIfEmpty(finding.node);
  json["device"] = NullIfEmpty(finding.device);
  json["rank"] = finding.rank < 0 ? OrderedJson(nullptr) : OrderedJson(finding.rank);
  json["sentence"] = finding.sentence;
  json["evidence"] = finding.evidence.is_object() ? finding.evidence : Json::object();
  return json;
}

}  // namespace stepscope
