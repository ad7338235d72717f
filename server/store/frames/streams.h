#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/table.h"
#include "core/wire/frame.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// Statements of ingest for the caller's transaction, which may send several at once, and readers of
// their rows. Lists are sorted by job and then by name or session, so that two servers lock in one
// order.

// A schema of a job, found by the job's name, and the job's number; nullopt when either is not
// known.
struct SchemaOfJob {
  Schema schema;
  std::int64_t job_id = 0;
};
Result<std::optional<SchemaOfJob>> FindSchema(Connection& connection, const std::string& job,
                                              std::uint64_t schema_hash);

struct NodeSeen {
  std::int64_t job_id = 0;
  std::string name;
  std::int64_t seen_us = 0, clock_offset_us = 0;
  std::int64_t round_trip_us = 0;      // 0 = the offset was not measured: the stored one is kept
  std::int64_t suspect_offset_us = 0;  // the clock error that frames are marked for; 0 = none is
};
Statement AddNodes(std::span<const NodeSeen> nodes);  // adds the nodes that are new
// Updates the nodes that exist.
Statement SeeNodes(std::span<const NodeSeen> nodes, Placement placement = Placement::kTogether);
// The nodes' numbers, by job and name.
std::map<std::pair<std::int64_t, std::string>, std::int64_t> NodeNumbers(const Rows& seen);

struct StreamKey {
  std::int64_t job_id = 0, node_id = 0;
  std::string session;
};
Statement AddStreams(std::span<const StreamKey> streams, std::int64_t now_us);
Result<std::vector<bool>> ExistingStreams(Connection& connection,
                                          std::span<const StreamKey> streams);
struct StreamCursor {
  std::int64_t stored = 0;             // the highest number
  std::int64_t interval_answered = 0;  // server/store/jobs/interval_requests.h
  std::int64_t stop_answered = 0;      // server/store/jobs/stop_requests.h
  std::int64_t window_answered = 0;    // server/store/jobs/windows.h
};
// Locks the streams that exist until the transaction ends: a statement for each job, in order.
std::vector<Statement> LockStreams(std::span<const StreamKey> streams,
                                   Placement placement = Placement::kTogether);
// In the order of the list; nullopt for a stream that does not exist.
std::vector<std::optional<StreamCursor>> CursorsOf(std::span<const StreamKey> streams,
                                                   std::span<const Rows> locked);
struct StreamAdvance {
  std::int64_t job_id = 0, stored = 0, lost = 0, rejected = 0;  // the last two are added
  std::string session;
};
Statement AdvanceStreams(std::span<const StreamAdvance> streams,
                         Placement placement = Placement::kTogether);

struct NewFrame {
  std::int64_t job_id = 0, node_id = 0, sequence = 0, schema_hash = 0, from_us = 0, to_us = 0,
               rows = 0;
  FrameKind kind = FrameKind::kTicks;
  int rank = -1;
  bool clock_suspect = false;
  std::string_view session, payload;
};
Statement InsertFrames(std::span<const NewFrame> frames,
                       Placement placement = Placement::kTogether);

struct NewSchema {
  std::int64_t job_id = 0, schema_hash = 0;
  std::string_view content;
};
// Keeps the schemas that exist.
Statement InsertSchemas(std::span<const NewSchema> schemas);

// The frames of a job that agents reported lost, and the frames that were refused.
struct FrameLosses {
  std::int64_t lost = 0, rejected = 0;
};
Result<FrameLosses> SumLosses(Connection& connection, std::int64_t job_id);

}  // namespace stepscope
