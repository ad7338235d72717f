// GET /jobs/{name}/diagnosis: where the time went, from what the rule ProfilerReport keeps.

#include <algorithm>

#include "server/api/answer.h"
#include "server/api/diagnosis_answer.h"
#include "server/api/find_job.h"
#include "server/api/query.h"
#include "server/api/routes.h"
#include "server/api/rule_answer.h"

namespace stepscope {
namespace {

constexpr const char* kNotChosen =
    "the job is not judged by ProfilerReport, the rule that divides up its time";

// The rules that look for this cause and fired, with what they say.
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
  OrderedJson json = CauseInShort(cause);
  json["support"] = SupportOf(cause, states, transitions);
  return json;
}

OrderedJson ToJson(const RuleStateRow* report, std::span<const RuleStateRow> states,
                   std::span<const TransitionRow> transitions) {
  const Json none = Json::object();
  const bool judged = report != nullptr && report->verdict.contains("evidence");
  const Json& evidence = judged ? report->verdict["evidence"] : none;
  const OrderedJson verdict = report == nullptr ? OrderedJson() : ToJson(*report, transitions);
  OrderedJson json = {
      {"sentence", report == nullptr ? OrderedJson(kNotChosen) : verdict["verdict"]["sentence"]}};
  for (const char* key :
       {"unit", "total_seconds", "confidence", "steps", "ranks", "nodes", "threshold"}) {
    json[key] = evidence.contains(key) ? OrderedJson(evidence[key]) : OrderedJson(nullptr);
  }
  json["budget"] = OrderedJson::array();
  for (const Json& cause : MemberArray(evidence, "budget")) {
    json["budget"].push_back(ToJson(cause, states, transitions));
  }
  PutTime(json, "evaluated", report == nullptr ? std::nullopt : report->evaluated_us);
  return json;
}

Result<Reply> ReadDiagnosis(const Api&, Connection& connection, const Request& request,
                            const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);
  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Result<std::vector<RuleStateRow>> states = ListRuleStates(connection, job->job_id);
  if (!states) return states.error();
  const Result<std::vector<TransitionRow>> transitions = ListTransitions(connection, job->job_id);
  if (!transitions) return transitions.error();
  return JobReply(*job, ToJson(FindReport(*states), *states, *transitions));
}

}  // namespace

std::vector<Route> DiagnosisRoutes(const Api& api) {
  return {ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/diagnosis", ReadDiagnosis)};
}

}  // namespace stepscope
