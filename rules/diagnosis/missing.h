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

// Told where nothing but windows is known of a job.
inline constexpr std::string_view kProfilerCosts =
    "The profiler makes each launch slower: without steps of the job it is not known how much of "
    "the waits for launches is its own.";

}  // namespace stepscope
