#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/model/step.h"
#include "server/store/postgres/database.h"
#include "server/store/steps/block_summary.h"

namespace stepscope {

// Some steps of a rank: a block's summary, or the steps themselves. One of the two is empty.
struct StepPiece {
  int rank = 0;
  const BlockSummary* block = nullptr;
  std::span<const Step> steps;
};
using TakeStepPiece = std::function<void(const StepPiece&)>;

// All steps of these ranks, each once, in pieces: rank by rank in the given order, a rank's in the
// order of time. A block comes as its summary where it has one, nothing else lies in its time, and
// the rank has more than `most_read` steps; what is left is read. The caller holds the snapshot.
Status ReadStepPieces(Connection& connection, std::int64_t job_id, std::span<const int> ranks,
                      std::int64_t most_read, const TakeStepPiece& take);

}  // namespace stepscope
