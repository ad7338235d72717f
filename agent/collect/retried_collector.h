#pragma once

#include <memory>
#include <string>

#include "agent/collect/collector.h"

namespace stepscope {

// A source that this node does not have yet: its driver may be loaded after the agent has started.
// It is asked for again every 60 s, on a thread of its own, since that may take long; until it is
// there it has no samples, and the reason is its shortfall. Of `kind` that is one which touches no
// row before it collects. An attempt that hangs is left behind, and no other one is made.
std::unique_ptr<Collector> RetryCollector(const CollectorKind& kind, const std::string& root,
                                          std::string reason);

}  // namespace stepscope
