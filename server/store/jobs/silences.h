#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "core/model/status.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// Silence: an agent runs the command of a running job (RunsCommand in stop_requests.h), and nothing
// was stored for its node since `before_us`, by the service's clock. It lasts until the node sends
// again, and is reported once.

// The longest time between two pushes is shorter (docs/decisions/0041-silence.md).
inline constexpr Duration kSilentAfter = 2min;

// Running jobs with a silence that was not reported; at most 1,000.
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
  bool stalled = false;           // every node that runs the command is silent
  std::int64_t last_seen_us = 0;  // the newest of the silent nodes' times
};

// The silence of a job that is to be reported; it counts as reported when the caller's transaction
// is committed. nullopt when it has ended. Of several callers at once one gets it.
Result<UntoldSilence> TakeUntoldSilence(Connection& connection, std::int64_t job_id,
                                        std::int64_t before_us);

}  // namespace stepscope
