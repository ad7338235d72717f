#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "server/store/jobs/jobs.h"
#include "server/store/rules/create_job.h"
#include "server/store/rules/rules.h"

namespace stepscope {

// The rules that a job is judged by, and how they change while it runs. All in the caller's
// transaction.

// Configurations, states and tasks of new rules of the job.
Status AddRules(Connection& connection, std::int64_t job_id, std::span<const NewJob::Rule> rules,
                std::int64_t now_us);

// Until the end of the transaction nobody else writes what the job's rules say, or changes them.
// Who also writes rule_tasks or the job does so afterwards: all in the same order.
Status LockRuleStates(Connection& connection, std::int64_t job_id);

// The rules of the job, by name. Until the end of the transaction nobody else changes them or
// writes what they say.
Result<std::vector<RuleConfigRow>> LockRules(Connection& connection, std::int64_t job_id);

// Of rules that go: whoever was told that one of them fires is told that it no longer does, and
// why.
Status AnnounceGone(Connection& connection, std::int64_t job_id,
                    std::span<const std::int64_t> rule_config_ids, const std::string& why,
                    std::int64_t now_us, const std::string& public_url);

struct RuleChanges {
  std::vector<NewJob::Rule> put;     // new ones, and those that stand with other parameters
  std::vector<std::string> removed;  // by name
  std::vector<std::string> quiet;    // of those removed, the ones of which nobody is ever told
};

// After LockRules, of a job that runs. A rule with other parameters is judged anew from what is
// stored: its state, verdict and findings go, its status is InProgress, and an evaluation that is
// under way loses its fence; what was told of it is remembered, so that only what differs is told
// again. A rule that is removed leaves nothing, and whoever was told that it fires is told that it
// no longer does. Same parameters change nothing. NotFound when the job is gone.
Status ChangeRules(Connection& connection, std::int64_t job_id,
                   std::span<const RuleConfigRow> configured, const RuleChanges& changes,
                   std::int64_t now_us, const std::string& public_url);

}  // namespace stepscope
