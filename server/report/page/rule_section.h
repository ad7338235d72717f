#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/time.h"
#include "rules/catalog/catalog.h"
#include "server/report/measure/device_use.h"
#include "server/store/jobs/jobs.h"
#include "server/store/rules/rules.h"

namespace stepscope {

// A parameter of a rule with the value that was used.
struct UsedParameter {
  std::string name;
  Json value;  // the given value, or the default
  std::string unit, help;
  // For a parameter in samples: their number, and their length.
  std::optional<std::int64_t> samples;
  std::optional<double> seconds;
};

// The part of a report about a rule of a job.
struct RuleSection {
  std::string name, rule;  // name in the configuration; name in the catalog
  std::string looks_for;   // the catalog's sentence; "" for a rule that is no longer in the catalog
  RuleStatus status = RuleStatus::kInProgress;
  bool judged = false;
  OrderedJson answer;         // the answer of GET /jobs/{name}/rules
  std::int64_t triggers = 0;  // the rule's own count, else the number of its findings
  std::vector<UsedParameter> parameters;
  std::vector<FindingRow> findings;  // the longest findings
  std::int64_t findings_total = 0;
  DeviceUses uses;  // data of its picture, where the table of usage does not have it
};

inline constexpr int kFindingsShown = 5;  // findings of each rule

// The sections of all rules that judge the job and that the diagnosis counts: the rule that fired
// most often first; rules that did not fire last, judged before unjudged. The rule that sums up is
// left out: it is the diagnosis.
std::vector<RuleSection> RuleSections(std::span<const RuleStateRow> states,
                                      std::span<const TransitionRow> transitions,
                                      std::map<std::int64_t, RuleFindings> findings,
                                      Duration interval);

}  // namespace stepscope
