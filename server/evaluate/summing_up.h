#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "rules/engine/rule.h"
#include "server/store/rules/rule_tasks.h"
#include "server/store/rules/rules.h"

namespace stepscope {

// The other rules of a job, for the rule that sums them up.
struct OtherRules {
  std::size_t count = 0;
  std::vector<std::string> fired;  // by name
  std::optional<Time> first;       // when the first rule fired
  bool ended = true;               // all rules had their last turn
  bool active = false;             // a rule that fired is still active
  double share = 0;                // the largest share of the rules that fired
};

// The status of a rule after the turn that it just had.
struct RuleNow {
  std::int64_t rule_config_id = 0;
  RuleStatus status = RuleStatus::kInProgress;
  std::int64_t at_us = 0;  // time of the status
  bool active = false;
  double share = 0;
};

// Reads the stored statuses; a rule that had a turn just now counts by that turn. Other rules that
// sum up do not count: two of them would keep each other firing.
Result<OtherRules> ReadOtherRules(Connection& connection, const RuleTask& task,
                                  std::span<const RuleNow> now);

// Makes the verdict a finding once another rule has fired, active while any of them is; the
// sentence names them.
void SumUp(const OtherRules& others, Verdict& verdict);

}  // namespace stepscope
