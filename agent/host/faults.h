#pragma once

#include <memory>
#include <string>

#include "agent/collect/collector.h"

namespace stepscope {

// Collects memory counters of /proc/vmstat, every 5 s: page faults, swapping, and processes killed
// for want of memory.
Result<std::unique_ptr<Collector>> MakeFaultsCollector(const std::string& root, TickRow& row);

}  // namespace stepscope
