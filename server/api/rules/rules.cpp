// GET /rules, the catalog, and GET /jobs/{name}/rules, the verdicts.

#include "rules/catalog/catalog.h"

#include "server/api/http/answer.h"
#include "server/api/http/find_job.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/report/page/rule_answer.h"

namespace stepscope {
namespace {

// The default; null for a parameter that must be given.
OrderedJson DefaultOf(const Param& parameter) {
  if (IsRequired(parameter)) return nullptr;
  if (parameter.choices.empty()) return parameter.fallback;
  return parameter.choices[static_cast<std::size_t>(parameter.fallback)];
}

// A text parameter has no range; its help says what it may be.
OrderedJson ToJson(const Param& parameter) {
  const bool text = !parameter.choices.empty() || parameter.good_text != nullptr;
  return {{"name", parameter.name},
          {"default", DefaultOf(parameter)},
          {"minimum", text ? OrderedJson(nullptr) : OrderedJson(parameter.least)},
          {"maximum", text ? OrderedJson(nullptr) : OrderedJson(parameter.most)},
          {"unit", parameter.unit},
          {"help", parameter.help}};
}

OrderedJson ToJson(const RuleType& rule) {
  OrderedJson parameters = OrderedJson::array();
  for (const Param& parameter : rule.params) parameters.push_back(ToJson(parameter));
  return {{"name", rule.name},
          {"sentence", rule.sentence},
          {"fires", rule.fires},
          {"advice", rule.advice},
          {"parameters", parameters}};
}

Reply ListCatalog(const Request& request, const PathParameters&) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);

  OrderedJson items = OrderedJson::array();
  for (const RuleType& rule : Catalog()) items.push_back(ToJson(rule));
  items.push_back(ToJson(CustomRule()));

  return JsonReply({{"items", items}});
}

Result<Reply> ListJobRules(const Api&, Connection& connection, const Request& request,
                           const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Result<std::vector<RuleStateRow>> states = ListRuleStates(connection, job->job_id);
  if (!states) return states.error();
  const Result<std::vector<TransitionRow>> transitions = ListTransitions(connection, job->job_id);
  if (!transitions) return transitions.error();

  OrderedJson items = OrderedJson::array();
  for (const RuleStateRow& state : *states) items.push_back(WholeRule(state, *transitions));
  return JobReply(*job, {{"items", items}});
}

}  // namespace

std::vector<Route> RuleRoutes(const Api& api) {
  return {
      ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/rules", ListJobRules),
      {.method = "GET", .pattern = "/api/v1/rules", .handler = ListCatalog, .right = Right::kRead}};
}

}  // namespace stepscope
