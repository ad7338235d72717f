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

// A parameter of a rule as it was used.
struct UsedParameter {
  std::string name;
  Json value;  // as it was given, or the default
  std::string unit, help;
  // Of one in samples: how many, and how long that is.
  std::optional<std::int64_t> samples;
  std::optional<double> seconds;
};

// What a report says of a rule of a job.
struct RuleSection {
  std::string name, rule;  // of the configuration; of the catalog
  std::string looks_for;   // the catalog's sentence; "" for a rule that it does not have any more
  RuleStatus status = RuleStatus::kInProgress;
  bool judged = false;
  OrderedJson answer;         // as GET /jobs/{name}/rules has it
  std::int64_t triggers = 0;  // as it counts them itself, else its findings
  std::vector<UsedParameter> parameters;
  std::vector<FindingRow> findings;  // the longest
  std::int64_t findings_total = 0;
  DeviceUses uses;  // what its picture is drawn from, where the table of usage does not have it
};

inline constexpr int kFindingsShown = 5;  // of each rule

// Of all rules that judge the job, the one that fired most often first; of those that did not,
// the judged before the others: those that the diagnosis counts. Not among them is the one that
// sums up, which is the diagnosis.
std::vector<RuleSection> RuleSections(std::span<const RuleStateRow> states,
                                      std::span<const TransitionRow> transitions,
                                      std::map<std::int64_t, RuleFindings> findings,
                                      Duration interval);

}  // namespace stepscope
