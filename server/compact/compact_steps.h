#pragma once

#include "server/compact/compact_node.h"
#include "server/store/retention/compact_tasks.h"

namespace stepscope {

// Turns the oldest frames with steps of a rank into blocks of steps, in one transaction. Conflict:
// somebody else took the frames meanwhile; nothing is changed.
Result<Compacted> CompactSteps(Connection& connection, std::int64_t job_id, const RankOfNode& from);

}  // namespace stepscope
