#pragma once

#include <vector>

#include "server/store/blocks.h"
#include "server/store/rollups.h"

namespace stepscope {

// What the ticks of some frames become, before it is known what is there already.

// One block for each metric and window that the ticks have values in, and the times of all of them.
std::vector<StoredBlock> CutBlocks(const TickTable& ticks, bool clock_suspect);

// `fresh` with what the blocks of the same keys hold already. Says how many rows had to be left out
// of blocks that were full (kBlockLimits): only ticks much closer than agents make them do that.
std::size_t MergeBlocks(std::vector<StoredBlock>& fresh, std::vector<StoredBlock> stored);

// The rows of rollups that the blocks have bins in.
std::vector<RollupKey> RollupsOf(const std::vector<StoredBlock>& blocks);

// Those rows with the bins of the blocks in place of the ones they had for the same windows.
std::vector<StoredRollup> RollUpBlocks(const std::vector<StoredBlock>& blocks,
                                       std::vector<StoredRollup> stored);

}  // namespace stepscope
