#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/status.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// Silence: an agent runs the command of a running job (RunsCommand in stops.h), and nothing was
// stored of its node since before `before_us`, by the service's clock. It lasts until the node is
// heard again, and is told once.

// No push comes so seldom (docs/decisions/0041-silence.md).
inline constexpr Duration kSilentAfter = 2min;

// Running jobs with a silence that was not told; at most 1,000.
Result<std::vector<std::int64_t>> ListUntoldSilences(Connection& connection,
                                                     std::int64_t before_us);

struct SilentNode {
  std::string name;
  std::int64_t last_seen_us = 0;
};
struct UntoldSilence {
  std::string job, group;
  JobStatus status = JobStatus::kInProgress;
  std::vector<SilentNode> nodes;  // by name
  bool stalled = false;           // all nodes that run the command are silent
  std::int64_t last_seen_us = 0;  // of the silent nodes
};

// What is to be told of a job, which counts as told when the caller's transaction is committed.
// Nothing when it has ended. Of several callers at once one gets it.
Result<UntoldSilence> TakeUntoldSilence(Connection& connection, std::int64_t job_id,
                                        std::int64_t before_us);

}  // namespace stepscope
