#pragma once

#include <string_view>
#include <variant>

#include "server/ingest/check/samples.h"

namespace stepscope {

// Reads {node, times_us[], series[{metric, device, values[]}]} in one pass; nothing is built but
// the columns. Everything that CheckTable asks of ticks holds for what is given, and CheckDensity.
std::variant<Samples, SampleFault> ReadSamples(std::string_view body);

}  // namespace stepscope
