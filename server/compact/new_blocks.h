#pragma once

#include <functional>
#include <vector>

#include "server/store/rollups/rollups.h"
#include "server/store/ticks/blocks.h"

namespace stepscope {

// What the ticks of some frames become, before it is known what is there already.

// One block for each metric and window that the ticks have values in, and the times of all of them,
// some at a time: as many as have `most` series together, at least one. A series of a block takes
// some 3 KB with its rollups however few values it has, and a frame of sparse ticks makes millions.
// By metric, then by time, so that few rows of rollups are written twice. Ends with the first error
// of `take`.
inline constexpr std::size_t kMostSeriesAtOnce = 8'192;
using TakeBlocks = std::function<Status(std::vector<StoredBlock>)>;
Status CutBlocks(const TickTable& ticks, bool clock_suspect, std::size_t most,
                 const TakeBlocks& take);

// Of blocks of windows that begin before `samples_from_us`, the values that are not stored yet:
// retention may have removed the others, and rollups alone tell of them.
std::vector<StoredBlock> LateRows(const std::vector<StoredBlock>& fresh,
                                  const std::vector<StoredBlock>& stored,
                                  std::int64_t samples_from_us);

struct Merged {
  // Rows that had no room in blocks that were full (kBlockLimits), or whose last devices had none:
  // only those of ticks much closer than agents make them, or of devices that change all the time.
  std::size_t left_out = 0;
  std::size_t joined = 0;  // ticks of an instant that was there
};

// `fresh` with what the blocks of the same keys hold already.
Merged MergeBlocks(std::vector<StoredBlock>& fresh, std::vector<StoredBlock> stored);

// The rows of rollups that the blocks have bins in.
std::vector<RollupKey> RollupsOf(const std::vector<StoredBlock>& blocks);

// Those rows with the bins of the blocks in place of the ones they had for the same windows. What
// is late is added to them instead.
std::vector<StoredRollup> RollUpBlocks(const std::vector<StoredBlock>& blocks,
                                       std::vector<StoredRollup> stored,
                                       const std::vector<StoredBlock>& late);

}  // namespace stepscope
