#pragma once

#include <optional>

#include "server/ingest/check/samples.h"

namespace stepscope {

// Samples for which blocks would have no room if they went on like this (block_capacity.h).
std::optional<SampleFault> CheckDensity(const Samples& samples);

}  // namespace stepscope
