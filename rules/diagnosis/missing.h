#pragma once

#include <string>
#include <vector>

#include "rules/engine/rule.h"

namespace stepscope {

// What is not seen of a job, a sentence each. `steps`: some rank has reported steps; `host_clock`:
// idle time of GPUs was divided by the host's clock alone.
std::vector<std::string> WhatIsMissing(const JobFacts& facts, bool steps, bool host_clock);

}  // namespace stepscope
