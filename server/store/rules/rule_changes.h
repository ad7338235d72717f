#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "server/store/jobs/jobs.h"
#include "server/store/rules/create_job.h"
#include "server/store/rules/rules.h"

namespace stepscope {

// The rules of a job, and their changes while it runs. All in the caller's transaction.

// Creates configurations, states and tasks of new rules of the job.
Status AddRules(Connection& connection, std::int64_t job_id, std::span<const NewJob::Rule> rules,
                std::int64_t now_us);

// Locks the states of the job's rules: until the end of the transaction nobody else writes or
// changes them. A caller that also writes rule_tasks or the job does so afterwards, in this order.
Status LockRuleStates(Connection& connection, std::int64_t job_id);

// Locks and reads the rules of the job, by name: until the end of the transaction nobody else
// changes them or writes their states.
Result<std::vector<RuleConfigRow>> LockRules(Connection& connection, std::int64_t job_id);

// Tells receivers that rules which they know to fire do so no longer, because the rules go, and
// why.
Status AnnounceGone(Connection& connection, std::int64_t job_id,
                    std::span<const std::int64_t> rule_config_ids, const std::string& why,
                    std::int64_t now_us, const std::string& public_url);

struct RuleChanges {
  std::vector<NewJob::Rule> put;     // new rules, and existing ones with other parameters
  std::vector<std::string> removed;  // by name
  std::vector<std::string> quiet;    // the removed rules that nobody is told about
};

// Changes the rules of a running job, after LockRules. A rule with other parameters is judged anew
// from what is stored: its state, verdict and findings go, its status is InProgress, and an
// evaluation that is under way loses its fence; what receivers were told is remembered, so that
// only differences are told again. A removed rule leaves nothing, and receivers that know it to
// fire are told that it no longer does. Equal parameters change nothing. NotFound when the job is
// gone.
Status ChangeRules(Connection& connection, std::int64_t job_id,
                   std::span<const RuleConfigRow> configured, const RuleChanges& changes,
                   std::int64_t now_us, const std::string& public_url);

}  // namespace stepscope
