#pragma once

#include "server/compact/compact_node.h"

namespace stepscope {

// With fewer nodes than that a reader is quick with their own rollups, and the disk stays free.
inline constexpr std::size_t kFewNodes = 8;

// Folds some of a job's stale rollups over its nodes, in one transaction. What cannot be folded is
// said once and left to readers.
Result<Compacted> FoldSome(Connection& connection, std::int64_t job_id,
                           std::size_t few_nodes = kFewNodes);

}  // namespace stepscope
