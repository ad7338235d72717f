// GET /jobs/{name}/rules/{rule}/transitions: when the status of a rule changed, and why.

#include "server/store/rules/rule_transitions.h"
#include "core/base/json_members.h"
#include "core/model/names.h"
#include "server/api/http/answer.h"
#include "server/api/http/find_job.h"
#include "server/api/http/page.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"

namespace stepscope {
namespace {

OrderedJson TransitionJson(const TransitionRow& transition) {
  OrderedJson json = {{"version", transition.version}, {"status", transition.status}};
  PutTime(json, "start_time", transition.at_us);
  json["message"] = transition.detail;
  return json;
}

Result<Reply> ListTransitionsOfRule(const Api&, Connection& connection, const Request& request,
                                    const PathParameters& path) {
  const Query query(request, kPageQuery);
  if (!query.faults().empty()) return query.Refusal(request);
  const std::string& rule = path.at("rule");
  if (const Status good = CheckLabel("rule", rule); !good) return good.error();

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const auto id = FindRuleConfig(connection, job->job_id, rule);
  if (!id) return id.error();
  const Result<TransitionPage> page = ListRuleTransitions(
      connection, job->job_id, *id, query.Text("cursor"), static_cast<int>(query.Int("limit", 50)));
  if (!page) return PageFault(request, page.error());
  return JobReply(*job, PageJson(*page, TransitionJson));
}

}  // namespace

std::vector<Route> RuleTransitionRoutes(const Api& api) {
  return {ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/rules/{rule}/transitions",
                      ListTransitionsOfRule)};
}

}  // namespace stepscope
