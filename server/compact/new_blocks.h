#pragma once

#include <functional>
#include <vector>

#include "server/store/rollups/rollups.h"
#include "server/store/ticks/blocks.h"

namespace stepscope {

// The blocks of the ticks of some frames, before they are merged with stored ones.

// Calls `take` with a block for each metric and block window that the ticks have values in, and the
// blocks of all times, some at a time: as many as have `most` series together, at least one. A
// series of a block takes some 3 KB with its rollups however few values it has, and a frame of
// sparse ticks makes millions. By metric, then by time, so that few rows of rollups are written
// twice. Ends with the first error of `take`.
inline constexpr std::size_t kMostSeriesAtOnce = 8'192;
using TakeBlocks = std::function<Status(std::vector<StoredBlock>)>;
Status CutBlocks(const TickTable& ticks, bool clock_suspect, std::size_t most,
                 const TakeBlocks& take);

// The values that are not stored yet, of blocks that begin before `samples_from_us`: retention may
// have removed the others, and only rollups have them.
std::vector<StoredBlock> LateRows(const std::vector<StoredBlock>& fresh,
                                  const std::vector<StoredBlock>& stored,
                                  std::int64_t samples_from_us);

struct Merged {
  // Rows without room in full blocks (kBlockLimits), or whose last devices had none: only where
  // ticks are much closer than agents make them, or devices change all the time.
  std::size_t left_out = 0;
  std::size_t joined = 0;  // ticks of an instant that is stored already
};

// `fresh` joined with the stored blocks of equal keys.
Merged MergeBlocks(std::vector<StoredBlock>& fresh, std::vector<StoredBlock> stored);

// The rows of rollups that the blocks have bins in.
std::vector<RollupKey> RollupsOf(const std::vector<StoredBlock>& blocks);

// These rows with the bins of the blocks, which replace older bins of their windows. Bins of late
// values are added instead.
std::vector<StoredRollup> RollUpBlocks(const std::vector<StoredBlock>& blocks,
                                       std::vector<StoredRollup> stored,
                                       const std::vector<StoredBlock>& late);

}  // namespace stepscope
