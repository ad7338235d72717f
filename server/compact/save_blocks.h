#pragma once

#include <vector>

#include "server/compact/new_blocks.h"

namespace stepscope {

// The stored blocks and rollups may be far larger than the new ones: late samples of many windows.
// About a full block (kBlockLimits) is in memory at once.
inline constexpr std::size_t kMostStoredBytes = 128 * 1024 * 1024;

// Merges new blocks with the stored ones, and writes them and their rollups, in the caller's
// transaction: in batches whose stored part takes up to `most_stored_bytes`, or of one block.
// `schemas`: as SaveBlocks.
Result<Merged> MergeAndSave(Connection& connection, Connection& schemas, std::int64_t job_id,
                            std::int64_t node_id, std::vector<StoredBlock> blocks,
                            std::size_t most_stored_bytes);

}  // namespace stepscope
