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

// How the other rules of a job stand, for the rule that sums them up.
struct OtherRules {
  std::size_t count = 0;
  std::vector<std::string> fired;  // by name
  std::optional<Time> first;       // when the first of them fired
  bool ended = true;               // all of them said their last
  bool active = false;             // one that fired still does
  double share = 0;                // the largest of those that fired
};

// How a rule stands by the turn that it just had.
struct RuleNow {
  std::int64_t rule_config_id = 0;
  RuleStatus status = RuleStatus::kInProgress;
  std::int64_t at_us = 0;  // of the status
  bool active = false;
  double share = 0;
};

// As stored, or where a rule had a turn just now, as that turn says. Others that sum up do not
// count: two of them would keep each other firing.
Result<OtherRules> ReadOtherRules(Connection& connection, const RuleTask& task,
                                  std::span<const RuleNow> now);

// A finding as soon as another rule has fired, active while one of them is; the sentence names
// them.
void SumUp(const OtherRules& others, Verdict& verdict);

}  // namespace stepscope
