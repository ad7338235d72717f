#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "server/store/postgres/connection.h"

namespace stepscope {

// A machine of Citus that keeps shards, by its number in pg_dist_node.
struct CitusWorker {
  std::int64_t node_id = 0;
  bool answers = false;
};

// Asks each worker whether it answers; sorted by number. Errors are those of Connection, and
// Unavailable where a worker takes longer than the connection's deadline.
Result<std::vector<CitusWorker>> AskWorkers(Connection& connection);

// A machine that keeps shards: its number in pg_dist_node, and where it takes connections.
struct CitusMachine {
  std::int64_t number = 0;
  std::string host;
  int port = 0;
};

// The machine that keeps the rows of a job; the coordinator knows it by itself. Nothing when there
// is no such job.
Result<std::optional<CitusMachine>> FindMachineOf(Connection& connection, const std::string& job);

}  // namespace stepscope
