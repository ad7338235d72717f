#pragma once

#include <memory>
#include <string>

#include "agent/collect/collector.h"

namespace stepscope {

// A source that this node may not have yet, because its driver may be loaded after the agent has
// started, or that may end: `kind` is tried again every 60 s, on a thread of its own, since that
// may take long. `made` is the result of the first try. Without a source there are no samples, and
// the reason is the shortfall if `is_missed`, or once it has read. After a source's end each tick
// has its error until it is back. `kind` must touch no row before Collect. An attempt that hangs is
// left behind, and no other one is made.
std::unique_ptr<Collector> RetryCollector(const CollectorKind& kind, const std::string& root,
                                          Result<std::unique_ptr<Collector>> made,
                                          bool is_missed = true);

}  // namespace stepscope
