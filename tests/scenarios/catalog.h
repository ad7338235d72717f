#pragma once

// The named scenarios: the events of each, and the verdicts that the service must reach.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/status.h"
#include "tests/scenarios/training.h"

namespace stepscope::scenarios {

inline constexpr std::string_view kNoBottleneck = "no bottleneck found";

struct Expected {
  // The cause of most lost time, as the diagnosis calls it; kNoBottleneck, or "" when there is
  // nothing to divide.
  std::string_view cause;
  // The rules that find issues. No other rule does, but ProfilerReport, which sums them up and
  // names causes.
  std::vector<std::string_view> issues = {};
  // The rules whose verdict must be unknown.
  std::vector<std::string_view> unknown = {};
  JobStatus status = JobStatus::kCompleted;
  std::string_view note = {};  // the reason, where the expectation is surprising
};

struct NamedScenario {
  std::string_view name, sentence;
  Training (*make)();
  Expected expected;
};

// Each list is defined in <name>.cpp.
std::span<const NamedScenario> Stages();
std::span<const NamedScenario> Suspects();
std::span<const NamedScenario> LateRanks();
std::span<const NamedScenario> Edges();

std::vector<NamedScenario> AllScenarios();
// The scenario of a name, or null.
const NamedScenario* FindScenario(std::span<const NamedScenario> all, std::string_view name);

}  // namespace stepscope::scenarios
