#pragma once

#include <string_view>
#include <variant>

#include "server/ingest/check/samples.h"

namespace stepscope {

// Reads {node, times_us[], series[{metric, device, values[]}]} in one pass; nothing is built but
// the columns. The result fulfils everything that CheckTable asks of ticks.
std::variant<Samples, SampleFault> ReadSamples(std::string_view body);

}  // namespace stepscope
