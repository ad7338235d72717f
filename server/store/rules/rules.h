#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/model/status.h"
#include "server/store/postgres/database.h"

namespace stepscope {

struct RuleConfigRow {
  std::int64_t job_id = 0, rule_config_id = 0;
  std::string name, rule;
  Json parameters;
};

struct RuleStateRow {
  RuleConfigRow config;
  RuleStatus status = RuleStatus::kInProgress;
  std::int64_t version = 0, revision = 0, changed_us = 0;
  std::optional<std::int64_t> evaluated_us;
  std::string saved;      // what the evaluation saved; empty before the first one
  bool by_older = false;  // an older version of the program saved something else since
  Json verdict;
};
Result<std::vector<RuleStateRow>> ListRuleStates(Connection&,
                                                 std::int64_t job_id);  // without what was saved
Result<std::vector<RuleStateRow>> ListRuleStatuses(Connection&,
                                                   std::int64_t job_id);  // nor the verdict
Result<RuleStateRow> LoadRuleState(Connection&, std::int64_t job_id, std::int64_t rule_config_id);
// Those of these that there are, without the verdict.
Result<std::vector<RuleStateRow>> LoadRuleStates(Connection&, std::int64_t job_id,
                                                 std::span<const std::int64_t> rule_config_ids);

// What the newest verdict of a rule says of whether it fires, without the rest of it.
struct RuleFiring {
  std::int64_t rule_config_id = 0;
  bool active = false;
  double share = 0;
};
Result<std::vector<RuleFiring>> ListFiring(Connection&, std::int64_t job_id,
                                           std::span<const std::int64_t> rule_config_ids);

struct FindingRow {
  std::int64_t rule_config_id = 0, finding = 0, from_us = 0, to_us = 0;
  std::string rule_name;  // of the configuration
  std::string node, device, sentence;
  int rank = -1;
  Json evidence;
};
struct FindingPage {
  std::vector<FindingRow> items;
  std::string next;
  std::int64_t total = 0;
};
Result<FindingPage> ListFindings(Connection&, std::int64_t job_id, const std::string& rule_name,
                                 const std::string& after, int limit);

// The longest findings of each rule that has some, the longest first, and how many there are.
struct RuleFindings {
  std::vector<FindingRow> longest;
  std::int64_t total = 0;
};
Result<std::map<std::int64_t, RuleFindings>> ListLongestFindings(Connection&, std::int64_t job_id,
                                                                 int most_each);

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
