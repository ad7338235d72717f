#include "server/report/page/diagnosis_answer.h"

#include <algorithm>
#include <cmath>

#include "core/base/json_members.h"
#include "rules/catalog/catalog.h"
#include "server/report/page/rule_answer.h"
#include "server/store/ticks/series_range.h"

namespace stepscope {
namespace {

OrderedJson MemberOf(const Json& object, const char* key) {
  return object.contains(key) ? OrderedJson(object[key]) : OrderedJson(nullptr);
}

// What the rule about GPUs without work advises, when these are most of what a cause has lost: the
// division of the time knows the work of a node's GPUs together, and not which of them has none.
std::string AdviceOfIdleGpus(const Json& cause, std::span<const RuleStateRow> states) {
  if (TextOf(cause, "cause") != "under_use" || !cause["seconds"].is_number()) return "";
  for (const RuleStateRow& state : states) {
    const bool fired = state.config.rule == "IdleGPU" && state.status == RuleStatus::kIssuesFound;
    if (!fired || !state.verdict.contains("evidence")) continue;
    const Json& evidence = state.verdict["evidence"];
    double idle_seconds = 0;
    for (const Json& gpu : MemberArray(evidence, "gpus")) {
      if (!gpu.value("used_later", false)) idle_seconds += gpu.value("idle_seconds", 0.0);
    }
    if (2 * idle_seconds >= cause["seconds"].get<double>()) return TextOf(evidence, "advice");
  }
  return "";
}

OrderedJson CauseInShort(const Json& cause, std::span<const RuleStateRow> states) {
  OrderedJson json;
  for (const char* key :
       {"cause", "words", "seconds", "share", "cost", "speed_up", "stage", "suspect", "advice"}) {
    json[key] = MemberOf(cause, key);
  }
  if (const std::string advice = AdviceOfIdleGpus(cause, states); !advice.empty()) {
    json["advice"] = advice;
  }
  return json;
}

constexpr const char* kNotChosen =
    "the job is not judged by ProfilerReport, the rule that divides up its time";

// The rules that look for this cause and fired, with their sentences.
OrderedJson SupportOf(const Json& cause, std::span<const RuleStateRow> states,
                      std::span<const TransitionRow> transitions) {
  OrderedJson support = OrderedJson::array();
  const Json rules = MemberArray(cause, "rules");
  for (const RuleStateRow& state : states) {
    const bool looks = std::ranges::find(rules, Json(state.config.rule)) != rules.end();
    if (!looks || state.status != RuleStatus::kIssuesFound) continue;
    const OrderedJson json = ToJson(state, transitions);
    support.push_back({{"rule_configuration_name", json["rule_configuration_name"]},
                       {"sentence", json["verdict"]["sentence"]},
                       {"severity", json["severity"]},
                       {"active", json["active"]}});
  }
  return support;
}

OrderedJson ToJson(const Json& cause, std::span<const RuleStateRow> states,
                   std::span<const TransitionRow> transitions) {
  OrderedJson json = CauseInShort(cause, states);
  json["support"] = SupportOf(cause, states, transitions);
  return json;
}

// The phases of the job. They begin with its first sample, as the job does, and end with its newest
// one; where the job ended less than a tick from that, finalisation ends with the job.
OrderedJson PartsOf(const Json& evidence, const JobRow& job) {
  OrderedJson parts = MemberOf(evidence, "parts");
  if (!parts.is_object() || !job.started_us || !job.ended_us) return parts;
  double left = static_cast<double>(*job.ended_us - *job.started_us) / 1e6;
  for (const auto& [name, seconds] : parts.items()) {
    if (seconds.is_number()) left -= seconds.get<double>();
  }
  const std::int64_t tick_us = IntervalUs(job, *job.started_us, *job.ended_us);
  const double finalisation = parts.value("finalisation", 0.0) + left;
  if (std::abs(left) * 1e6 < static_cast<double>(tick_us) && finalisation >= 0) {
    parts["finalisation"] = Rounded(finalisation, 6);
  }
  return parts;
}

OrderedJson ToJson(const JobRow& job, const RuleStateRow* report,
                   std::span<const RuleStateRow> states,
                   std::span<const TransitionRow> transitions) {
  const Json none = Json::object();
  const bool judged = report != nullptr && report->verdict.contains("evidence");
  const Json& evidence = judged ? report->verdict["evidence"] : none;
  const OrderedJson verdict = report == nullptr ? OrderedJson() : ToJson(*report, transitions);
  OrderedJson json = {
      {"sentence", report == nullptr ? OrderedJson(kNotChosen) : verdict["verdict"]["sentence"]}};
  for (const char* key : {"unit", "total_seconds", "confidence", "steps", "ranks", "nodes",
                          "threshold", "clock", "named_share", "missing", "windows"}) {
    json[key] = MemberOf(evidence, key);
  }
  json["parts"] = PartsOf(evidence, job);
  json["budget"] = OrderedJson::array();
  for (const Json& cause : MemberArray(evidence, "budget")) {
    json["budget"].push_back(ToJson(cause, states, transitions));
  }
  PutTime(json, "evaluated", report == nullptr ? std::nullopt : report->evaluated_us);
  return json;
}

}  // namespace

const RuleStateRow* FindReport(std::span<const RuleStateRow> states) {
  const auto report = std::ranges::find_if(
      states, [](const RuleStateRow& state) { return SumsUp(state.config.rule); });
  return report == states.end() ? nullptr : &*report;
}

JobVerdict VerdictOf(std::span<const RuleStateRow> states) {
  const bool sums_up = FindReport(states) != nullptr;
  bool judged = false;
  for (const RuleStateRow& state : states) {
    if (state.status == RuleStatus::kIssuesFound) return JobVerdict::kIssues;
    const std::string kind = TextOf(state.verdict, "kind");
    const bool counts = !sums_up || SumsUp(state.config.rule);
    judged |= counts && (kind == "clear" || kind == "finding");
  }
  return judged ? JobVerdict::kNone : JobVerdict::kUnknown;
}

OrderedJson DiagnosisInShort(const JobRow& job, std::span<const RuleStateRow> states) {
  const RuleStateRow* report = FindReport(states);
  if (report == nullptr || !report->verdict.contains("evidence")) return nullptr;
  const Json& evidence = report->verdict["evidence"];
  const Json budget = MemberArray(evidence, "budget");
  if (budget.empty()) return nullptr;
  OrderedJson json = {{"sentence", MemberOf(report->verdict, "sentence")}};
  for (const char* key : {"unit", "total_seconds", "confidence", "steps", "threshold", "clock",
                          "named_share", "missing"}) {
    json[key] = MemberOf(evidence, key);
  }
  json["parts"] = PartsOf(evidence, job);
  json["budget"] = OrderedJson::array();
  for (const Json& cause : budget) json["budget"].push_back(CauseInShort(cause, states));
  return json;
}

OrderedJson WholeDiagnosis(const JobRow& job, std::span<const RuleStateRow> states,
                           std::span<const TransitionRow> transitions) {
  return ToJson(job, FindReport(states), states, transitions);
}

}  // namespace stepscope
