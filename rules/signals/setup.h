#pragma once

#include <string>

#include "rules/engine/rule.h"

namespace stepscope {

// What a job's step time depends on besides its code, in words, as far as is known: "8 ranks on 2
// nodes, 8 GPUs (NVIDIA H100), 64 cores, batches of 32". Two runs whose words are the same may be
// compared. "" before a rank has connected.
std::string SetupOf(const JobFacts& facts);

}  // namespace stepscope
