#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/store/jobs/jobs.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// Finds a rule of a job by the name of its configuration; else NotFound.
Result<std::int64_t> FindRuleConfig(Connection&, std::int64_t job_id, const std::string& name);

// The changes of a rule's status in the order in which they happened, whatever the clocks said.
struct TransitionPage {
  std::vector<TransitionRow> items;
  std::string next;
  std::int64_t total = 0;
};
Result<TransitionPage> ListRuleTransitions(Connection&, std::int64_t job_id,
                                           std::int64_t rule_config_id, const std::string& after,
                                           int limit);

}  // namespace stepscope
