#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "server/store/rules/rule_tasks.h"
#include "server/store/rules/rules.h"

namespace stepscope {

// One evaluation's outcome, written in one transaction under the task's fence and the state's
// revision: what it saves, verdict, findings (inserted or replaced by number), and when the
// status is another: transition and deliveries (rule.issues_found, rule.error; rule.cleared when
// the verdict's "active" turns from true to false). A rule that is judged anew tells nothing while
// it is behind, and then what is new against what stood before. Conflict = the task or the state is
// no longer ours, nothing was written.
struct Evaluated {
  RuleTask task;
  std::int64_t revision = 0;  // as loaded
  std::string saved;
  Json verdict;
  std::vector<FindingRow> findings;
  RuleStatus status = RuleStatus::kInProgress;
  std::string detail;      // StatusDetails
  std::int64_t at_us = 0;  // of the status change, in data time where it has one
  bool last = false;       // nothing more will come: the task is done
  bool quiet = false;      // no message: what it says was told of others
  bool anew = false;       // judged from the beginning: findings that stand are of another fold
  bool behind = false;     // more of what is stored is still to be seen
  // Else due again at the next of the job's places on the clock, which are so far apart; 0: now.
  Duration next_in{};
};
Status FinishRuleTask(Connection&, const Evaluated&, const std::string& public_url);
// The same of several rules of one job, all in one transaction. Says how many were no longer ours;
// of these nothing is written. On an error nothing is written at all.
Result<std::size_t> FinishRuleTasks(Connection&, std::span<const Evaluated>,
                                    const std::string& public_url);

// The evaluation failed: again after a back-off, `Error` after the fifth attempt.
Status FailRuleTask(Connection&, const RuleTask&, const std::string& error,
                    const std::string& public_url);

}  // namespace stepscope
