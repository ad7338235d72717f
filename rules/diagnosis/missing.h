#pragma once

#include <string>
#include <vector>

#include "rules/engine/rule.h"

namespace stepscope {

// What is not seen of a job, a sentence each. `steps`: some rank has reported steps; `host_clock`:
// idle time of GPUs was divided by the host's clock alone.
std::vector<std::string> WhatIsMissing(const JobFacts& facts, bool steps, bool host_clock);

// Whether there are processes, or waits for data, of which the steps tell nothing.
bool AreStepsSeenInPart(const JobFacts& facts);

}  // namespace stepscope
