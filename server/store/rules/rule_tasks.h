#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// The queue. Times are the database's clock, read inside. An expired lease is found by the next
// claim.
inline constexpr int kMostAttempts = 5;
struct RuleTask {
  std::int64_t task_id = 0, job_id = 0, rule_config_id = 0, fence = 0;
  int attempt = 0;  // from 1; above kMostAttempts it has killed its evaluators: fail it
};
// Due tasks of one job, the one that is due longest first, and those of its job that are due at
// about the same time. A task that failed or ended its program comes alone, so that it takes no
// other with it.
Result<std::vector<RuleTask>> ClaimRuleTasks(Connection&, const std::string& worker, int most,
                                             Duration lease);
Result<bool> RenewRuleTask(Connection&, const RuleTask&, Duration lease);  // false = no longer ours
// Those of these tasks that the worker holds are due now, and no attempt is counted: at shutdown.
Status ReleaseRuleTasks(Connection&, const std::string& worker,
                        std::span<const std::int64_t> task_ids);

}  // namespace stepscope
