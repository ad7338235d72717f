#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/base/json.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// Agents' reports about nodes and ranks, written in the caller's transaction.

// The node's command has started: stores its facts and clears its end.
Status NodeStarted(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                   const Json& facts);

// The fact of a node that says what is known of why its command failed.
inline constexpr const char* kEndReason = "end_reason";

// Merges facts into the stored ones; equal names are replaced.
Status AddNodeFacts(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                    const Json& facts);

struct NodeEnd {
  std::int64_t at_us = 0;
  std::optional<std::int64_t> exit_code, exit_signal;
  Json output;  // last lines of standard error, or null
};
Status NodeEnded(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                 const NodeEnd& end);

// A process of a rank. False, and nothing is changed, where the rank is that of another node which
// still runs and was heard within kSilentAfter before `now_us`.
struct StartedRank {
  int rank = 0;
  std::int64_t node_id = 0, at_us = 0;
};
Result<bool> RankStarted(Connection& connection, std::int64_t job_id, const StartedRank& started,
                         const Json& facts, std::int64_t now_us);
// False where the rank is another node's.
Result<bool> RankEnded(Connection& connection, std::int64_t job_id, int rank, std::int64_t node_id,
                       std::int64_t at_us);
// Ranks with steps or annotations; ranks that were never announced are created.
struct RankSighting {
  std::int64_t job_id = 0, node_id = 0, rank = 0, at_us = 0;
};
Statement RanksSeen(std::span<const RankSighting> ranks,
                    Placement placement = Placement::kTogether);

// Notes the first sample of a job. Returns whether it was the first.
Result<bool> JobStarted(Connection& connection, std::int64_t job_id, std::int64_t at_us);

// Running jobs whose nodes were all last seen before `before_us`; oldest first, at most 100.
Result<std::vector<std::int64_t>> ListSilentJobs(Connection& connection, std::int64_t before_us);

}  // namespace stepscope
