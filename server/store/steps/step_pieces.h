#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/model/step.h"
#include "server/store/postgres/database.h"
#include "server/store/steps/block_summary.h"

namespace stepscope {

// Steps of a rank: a block's summary, or the steps themselves. One of the two is empty.
struct StepPiece {
  int rank = 0;
  const BlockSummary* block = nullptr;
  std::span<const Step> steps;
};
using TakeStepPiece = std::function<void(const StepPiece&)>;

// Calls `take` with all steps of these ranks, each once, in pieces: rank by rank in the given
// order, and each rank's by time. A block comes as its summary where it has one, no other source
// overlaps it, and the rank has more than `most_read` steps; the rest is read. The caller holds the
// snapshot.
Status ReadStepPieces(Connection& connection, std::int64_t job_id, std::span<const int> ranks,
                      std::int64_t most_read, const TakeStepPiece& take);

}  // namespace stepscope
