#pragma once

#include <cstdint>

#include "server/store/postgres/database.h"

namespace stepscope {

// The result of one transaction of the compactor.
struct Compacted {
  std::size_t frames = 0, blocks = 0, rows_left_out = 0;
  std::size_t rows_joined = 0;  // rows of an instant that was stored already
  bool more = false;            // frames remain for the next transaction
};

// Turns the oldest frames of a node into blocks and rollups, in one transaction. Conflict: somebody
// else took the frames meanwhile; nothing is changed. Schemas of blocks are committed at once on
// the connection `schemas`, if there is one: else others wait to save them until this ends.
Result<Compacted> CompactNode(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                              Connection* schemas = nullptr);

}  // namespace stepscope
