#pragma once

#include "server/compact/compact_node.h"
#include "server/store/retention/compact_tasks.h"

namespace stepscope {

// Merges the oldest frames with statistics of a rank's annotations into the blocks of their
// windows, in one transaction. Conflict: somebody else took the frames meanwhile; nothing is
// changed.
Result<Compacted> CompactAnnotations(Connection& connection, std::int64_t job_id,
                                     const RankOfNode& from);

}  // namespace stepscope
