// GET /jobs/{name}/diagnosis: the use of the job's time, as the rule ProfilerReport saved it.

#include "server/api/http/answer.h"
#include "server/api/http/find_job.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/report/page/diagnosis_answer.h"

namespace stepscope {
namespace {

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
  return JobReply(*job, WholeDiagnosis(*job, *states, *transitions));
}

}  // namespace

std::vector<Route> DiagnosisRoutes(const Api& api) {
  return {ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/diagnosis", ReadDiagnosis)};
}

}  // namespace stepscope
