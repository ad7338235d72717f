#pragma once

#include <memory>
#include <string>

#include "agent/collect/collector.h"

namespace stepscope {

// The clocks of the cores, every 5 s: of each core up to kMostSplitCores, and the mean. On larger
// nodes the mean is of cores that lie evenly between the first and the last.
Result<std::unique_ptr<Collector>> MakeFrequencyCollector(const std::string& root, TickRow& row);

}  // namespace stepscope
