#pragma once

#include <memory>
#include <string>

#include "agent/collect/collector.h"

namespace stepscope {

// A source that this node may not have yet, because its driver may be loaded after the agent has
// started, or that may end: it is asked for again every 60 s, on a thread of its own, since that
// may take long. `made` is what came of the first time. Until it is there it has no samples. The
// reason is its shortfall if it is missed, and one that has read once is; what ended says so at
// each tick until then. Of `kind` that is one which touches no row before it collects. An attempt
// that hangs is left behind, and no other one is made.
std::unique_ptr<Collector> RetryCollector(const CollectorKind& kind, const std::string& root,
                                          Result<std::unique_ptr<Collector>> made,
                                          bool is_missed = true);

}  // namespace stepscope
