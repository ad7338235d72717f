#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/wire/frame.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// The queue of jobs to compact. A lease keeps several compactors from the same work; that nothing
// is taken twice is the transaction's business (server/compact/compact_node.h).

struct CompactTask {
  std::int64_t job_id = 0, fence = 0;
};

// What waits to be compacted, of all jobs.
struct CompactBacklog {
  std::int64_t frames = 0;
  Duration overdue{};  // since when the task has been due that nobody has taken for longest
};

// Makes tasks, due at once, for jobs that have frames, or rollups to fold, and no task yet. Goes
// through the index of all frames once, some 0.4 s for a million: nothing for whoever waits.
Result<CompactBacklog> FindCompactTasks(Connection& connection);

// One that is due, leased to the worker; none when nothing is.
Result<std::vector<CompactTask>> ClaimCompactTask(Connection& connection, const std::string& worker,
                                                  Duration lease);
// False: the task is somebody else's by now.
Result<bool> RenewCompactTask(Connection& connection, const CompactTask& task, Duration lease);
// Due again after `pause`.
Status PutBackCompactTask(Connection& connection, const CompactTask& task, Duration pause);
// A job that has no frames left and gets no more soon.
Status EndCompactTask(Connection& connection, const CompactTask& task);

// Nodes of a job that have frames with ticks, and ranks that have some of another kind.
Result<std::vector<std::int64_t>> NodesToCompact(Connection& connection, std::int64_t job_id);
struct RankOfNode {
  int rank = 0;
  std::optional<std::int64_t> node_id = {};  // its frames of this node; of all when left out
};
Result<std::vector<RankOfNode>> RanksToCompact(Connection& connection, std::int64_t job_id,
                                               FrameKind kind);

}  // namespace stepscope
