#include "server/store/rules/job_details.h"

namespace stepscope {

Result<JobDetails> LoadJobDetails(Connection& connection, std::int64_t job_id) {
  const auto rows = connection.QueryTogether(
      std::vector<Statement>{NodesWithFacts(job_id), RanksWithFacts(job_id), TransitionsOf(job_id),
                             RuleConfigs(job_id), RuleStates(job_id)});
  if (!rows) return rows.error();
  return JobDetails{ReadNodeRows((*rows)[0]), ReadRankRows((*rows)[1]),
                    ReadTransitionRows((*rows)[2]), ReadRuleRows((*rows)[3], (*rows)[4], job_id)};
}

}  // namespace stepscope
