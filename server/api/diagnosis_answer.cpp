#include "server/api/diagnosis_answer.h"

#include <algorithm>

#include "rules/catalog.h"
#include "server/api/answer.h"

namespace stepscope {
namespace {

OrderedJson MemberOf(const Json& object, const char* key) {
  return object.contains(key) ? OrderedJson(object[key]) : OrderedJson(nullptr);
}

}  // namespace

const RuleStateRow* FindReport(std::span<const RuleStateRow> states) {
  const auto report = std::ranges::find_if(states, [](const RuleStateRow& state) {
    const RuleType* rule = FindRule(state.config.rule);
    return rule != nullptr && rule->sums_up;
  });
  return report == states.end() ? nullptr : &*report;
}

OrderedJson CauseInShort(const Json& cause) {
  OrderedJson json;
  for (const char* key :
       {"cause", "words", "seconds", "share", "cost", "speed_up", "stage", "suspect", "advice"}) {
    json[key] = MemberOf(cause, key);
  }
  return json;
}

OrderedJson DiagnosisInShort(std::span<const RuleStateRow> states) {
  const RuleStateRow* report = FindReport(states);
  if (report == nullptr || !report->verdict.contains("evidence")) return nullptr;
  const Json& evidence = report->verdict["evidence"];
  const Json budget = MemberArray(evidence, "budget");
  if (budget.empty()) return nullptr;
  OrderedJson json = {{"sentence", MemberOf(report->verdict, "sentence")}};
  for (const char* key : {"unit", "total_seconds", "confidence", "threshold"}) {
    json[key] = MemberOf(evidence, key);
  }
  json["budget"] = OrderedJson::array();
  for (const Json& cause : budget) json["budget"].push_back(CauseInShort(cause));
  return json;
}

}  // namespace stepscope
