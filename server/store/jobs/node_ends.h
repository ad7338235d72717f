#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/json.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// Whether an agent of the job still runs its command. As cheap for ten thousand nodes as for one.
Result<bool> SomeNodeRuns(Connection& connection, std::int64_t job_id);

struct FailedNode {
  std::string name;
  std::optional<std::int64_t> exit_code, exit_signal;
  Json output;         // last lines of standard error, or null
  std::string reason;  // what is known of why; ""
};

// How the commands on a job's nodes ended. An agent that did not start the processes sees them go,
// and no more.
struct NodeEnds {
  std::optional<FailedNode> failed;  // the first that failed
  std::string unknown;               // a node of which it is not known; "" when there is none
  std::int64_t last_us = 0;          // the last end
};
// Reads one row; for a job of which no node runs any more.
Result<NodeEnds> HowNodesEnded(Connection& connection, std::int64_t job_id);

}  // namespace stepscope
