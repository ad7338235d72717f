#pragma once

#include "server/compact/compact_node.h"

namespace stepscope {

// With fewer nodes a reader is quick with the nodes' own rollups, and disk space is saved.
inline constexpr std::size_t kFewNodes = 8;

// Folds some of a job's stale rollups over its nodes, in one transaction. Rows that cannot be
// folded are logged once and left to readers.
Result<Compacted> FoldSome(Connection& connection, std::int64_t job_id,
                           std::size_t few_nodes = kFewNodes);

}  // namespace stepscope
