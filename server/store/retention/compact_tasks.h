#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/wire/frame.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// The queue of jobs to compact. A lease keeps several compactors from doing the same work; that
// nothing is compacted twice is ensured by the transaction (server/compact/compact_node.h).

struct CompactTask {
  std::int64_t job_id = 0, fence = 0;
};

// The jobs that wait to be compacted.
struct CompactBacklog {
  std::int64_t frames = 0;
  Duration overdue{};  // since when the task is due that waits longest
};

// Creates tasks, due at once, for jobs that have frames, or rollups to fold, and no task yet. Reads
// the index of all frames once, some 0.4 s for a million: not for a caller whom somebody waits for.
Result<CompactBacklog> FindCompactTasks(Connection& connection);

// A due task, leased to the worker; nullopt when none is due.
Result<std::vector<CompactTask>> ClaimCompactTask(Connection& connection, const std::string& worker,
                                                  Duration lease);
// False: the task is another worker's by now.
Result<bool> RenewCompactTask(Connection& connection, const CompactTask& task, Duration lease);
// Makes the task due again after `pause`.
Status PutBackCompactTask(Connection& connection, const CompactTask& task, Duration pause);
// Removes the task of a job that has no frames left and gets no more soon.
Status EndCompactTask(Connection& connection, const CompactTask& task);

// The nodes of a job that have frames with ticks, and ranks that have frames of another kind.
Result<std::vector<std::int64_t>> NodesToCompact(Connection& connection, std::int64_t job_id);
struct RankOfNode {
  int rank = 0;
  std::optional<std::int64_t> node_id = {};  // only frames of this node; nullopt: of all
};
Result<std::vector<RankOfNode>> RanksToCompact(Connection& connection, std::int64_t job_id,
                                               FrameKind kind);

}  // namespace stepscope
