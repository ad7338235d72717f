#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "server/store/rules/rule_tasks.h"
#include "server/store/rules/rules.h"

namespace stepscope {

// An evaluation's outcome, written in one transaction under the task's fence and the state's
// revision: saved state, verdict, findings (inserted or replaced by number), and where the status
// changes, transition and deliveries (rule.issues_found, rule.error; rule.cleared when the
// verdict's "active" turns from true to false). A rule that is judged anew tells nothing while it
// is behind, and then only differences to what it told before. Conflict = the task or the state is
// no longer ours, nothing was written.
struct Evaluated {
  RuleTask task;
  std::int64_t revision = 0;  // the state's when it was loaded
  std::string saved;
  Json verdict;
  std::vector<FindingRow> findings;
  RuleStatus status = RuleStatus::kInProgress;
  std::string detail;      // StatusDetails
  std::int64_t at_us = 0;  // the status change's, in data time where there is one
  bool last = false;       // nothing more will come: the task is done
  bool quiet = false;      // no message: it sums up rules that told theirs
  bool anew = false;       // judged from the beginning: stored findings are an earlier evaluation's
  bool behind = false;     // stored samples are still to be evaluated
  // The task is due again at the next of the job's times, which are so far apart; 0: now.
  Duration next_in{};
};
Status FinishRuleTask(Connection&, const Evaluated&, const std::string& public_url);
// Finishes several rules of one job in one transaction. Returns how many were no longer ours, of
// which nothing is written. On an error nothing is written at all.
Result<std::size_t> FinishRuleTasks(Connection&, std::span<const Evaluated>,
                                    const std::string& public_url);

// Notes a failed evaluation: it runs again after a back-off, and is `Error` after the fifth
// attempt.
Status FailRuleTask(Connection&, const RuleTask&, const std::string& error,
                    const std::string& public_url);

}  // namespace stepscope
