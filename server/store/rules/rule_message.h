#pragma once

#include <cstdint>
#include <string>

#include "core/base/json.h"
#include "core/model/status.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// A rule of a job before a change.
struct RuleBefore {
  RuleStatus status = RuleStatus::kInProgress;
  std::int64_t version = 0, revision = 0, now_us = 0;
  Json verdict;  // without evidence
  std::string config, rule, job, group;
  Json told;  // while the rule is judged anew: the verdict before that; else null
};
struct RuleChange {
  RuleStatus status;
  const Json& verdict;
  const std::string& detail;
  std::int64_t at_us;
};

// Puts the message that the change is worth, if any, in the outbox: rule.issues_found, rule.error,
// or rule.cleared when the verdict is no longer active; a rule that finds something once more is
// told to webhooks that wait until a finding has lasted. In the caller's transaction.
Status AnnounceRule(Connection& connection, std::int64_t job_id, const RuleBefore& before,
                    const RuleChange& change, const std::string& public_url);

bool IsActive(const Json& verdict);

}  // namespace stepscope
