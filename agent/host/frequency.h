#pragma once

#include <memory>
#include <string>

#include "agent/collect/collector.h"

namespace stepscope {

// Collects the clocks of the cores, every 5 s: each core up to kMostSplitCores, and the mean. On
// larger nodes the mean is over cores that are spread evenly between the first and the last.
Result<std::unique_ptr<Collector>> MakeFrequencyCollector(const std::string& root, TickRow& row);

}  // namespace stepscope
