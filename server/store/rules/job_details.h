#pragma once

#include <cstdint>
#include <vector>

#include "server/store/jobs/jobs.h"
#include "server/store/rules/rules.h"

namespace stepscope {

// What is known of a job beside its row and its samples.
struct JobDetails {
  std::vector<NodeRow> nodes;  // with facts, within the bounds of NodesWithFacts
  std::vector<RankRow> ranks;
  std::vector<TransitionRow> transitions;  // the job's and its rules', by time
  std::vector<RuleStateRow> rules;         // by name, with their verdicts
};
// In one round trip; empty where there is no such job.
Result<JobDetails> LoadJobDetails(Connection&, std::int64_t job_id);

}  // namespace stepscope
