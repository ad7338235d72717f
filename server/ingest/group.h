#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/ingest/bound_nodes.h"
#include "server/ingest/check/checked_push.h"
#include "server/ingest/ingest.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// The outcome of a push.
struct PushOutcome {
  std::uint64_t cursor = 0;  // of its stream, after it
  bool gap = false;          // a number is missing behind the cursor
  std::uint64_t unknown_schema =
      0;  // the number of a frame whose schema is of another job; 0: none
  bool unknown_job = false;
  bool node_bound = false;  // another sender stored a frame of the node first
  std::int64_t job_id = 0;
  std::vector<RejectedFrame> rejected;
  std::vector<ServiceCommand> commands;        // commands that the agent has not answered
  std::vector<const TableFrame*> with_schema;  // tables stored together with their schema
  std::uint64_t frames = 0, samples = 0, bytes = 0, duplicates = 0, lost = 0, refused = 0;  // new
  std::optional<Error> not_stored;  // why a part of it was not, where others of its group were
};

// A part of a push that is stored together with others: frames [from, to).
struct GroupItem {
  CheckedPush* push = nullptr;
  std::size_t from = 0, to = 0;
};

// Stores the items in one transaction: streams locked in order, frames behind each cursor, what
// lifecycle frames say, then the cursors. Nothing is written on an error; `outcomes` are valid only
// without one. Items of one push come in order. Nodes that nobody has belong to the senders of
// their first frames, and `bound` remembers that.
Result<std::vector<PushOutcome>> StoreGroup(Connection& connection,
                                            const std::vector<GroupItem>& items,
                                            const IngestOptions& options, BoundNodes& bound,
                                            std::int64_t now_us);

// Stores them on the machine of Citus that keeps their job, past the coordinator, which halves what
// a push costs. Nothing when they are for the coordinator, which alone has the tables of no job:
// only tables of measured values go there, of jobs, streams and senders that are known.
Result<std::optional<std::vector<PushOutcome>>> StoreGroupThere(Connection& machine,
                                                                const std::vector<GroupItem>& items,
                                                                const IngestOptions& options,
                                                                BoundNodes& bound,
                                                                std::int64_t now_us);

}  // namespace stepscope
