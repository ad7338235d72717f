#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// The queue of evaluations. Times are the database's clock, read inside. A task with an expired
// lease can be claimed again.
inline constexpr int kMostAttempts = 5;
struct RuleTask {
  std::int64_t task_id = 0, job_id = 0, rule_config_id = 0, fence = 0;
  int attempt = 0;  // from 1; above kMostAttempts it has killed its evaluators: fail it
};
// Claims due tasks of one job: the task that is due longest, and those of its job that are due at
// about that time. A task that failed or ended its program is claimed alone, so that it takes no
// other with it.
Result<std::vector<RuleTask>> ClaimRuleTasks(Connection&, const std::string& worker, int most,
                                             Duration lease);
Result<bool> RenewRuleTask(Connection&, const RuleTask&, Duration lease);  // false = no longer ours
// Makes the tasks that the worker holds due now, without counting an attempt: at shutdown.
Status ReleaseRuleTasks(Connection&, const std::string& worker,
                        std::span<const std::int64_t> task_ids);

// Makes the rules of a job that has ended due once more, since there is something new to judge by;
// rules that failed stay so. An evaluation that is under way loses its fence.
Status JudgeOnceMore(Connection&, std::int64_t job_id);

}  // namespace stepscope
