#pragma once

// The named scenarios: what happens in each, and what the service has to say of it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/status.h"
#include "tests/scenarios/training.h"

namespace stepscope::scenarios {

inline constexpr std::string_view kNoBottleneck = "no bottleneck found";

struct Expected {
  // What most was lost to, as the diagnosis calls it; kNoBottleneck, or "" when there is nothing to
  // divide.
  std::string_view cause;
  // The rules that find issues. No other does, but ProfilerReport, which says so of them.
  std::vector<std::string_view> issues = {};
  // Rules that cannot judge, and have to say so.
  std::vector<std::string_view> unknown = {};
  JobStatus status = JobStatus::kCompleted;
  double most_share = 1;       // no rule fired in a larger share of the judged time
  std::string_view note = {};  // why, where it is not what one would think
};

struct NamedScenario {
  std::string_view name, sentence;
  Training (*make)();
  Expected expected;
};

// Each is defined in <name>.cpp.
std::span<const NamedScenario> Stages();
std::span<const NamedScenario> Suspects();
std::span<const NamedScenario> Edges();

std::vector<NamedScenario> AllScenarios();
// Null when there is none of this name.
const NamedScenario* FindScenario(std::span<const NamedScenario> all, std::string_view name);

}  // namespace stepscope::scenarios
