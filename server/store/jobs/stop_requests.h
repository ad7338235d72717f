#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/store/jobs/jobs.h"

namespace stepscope {

// Stopping a job: a request, with a number of its own in each job, that is told to every agent that
// runs the job's command until it has answered. `JobRow::stop_requests` is the newest.

// An agent on this node runs, or ran, the job's command. Samples may name a node that has none.
bool HasAgent(const NodeRow& node);

// The agent runs the command now.
bool RunsCommand(const NodeRow& node);

// Asks for the end of a running job, in the caller's transaction: it is Stopping until the command
// of its last node has ended, or Stopped at once where no agent runs one. A job that is Stopping is
// asked once more; one that is Stopped stays so. Conflict when it has ended by itself, and when no
// agent of it may end it.
Status AskToStop(Connection& connection, std::int64_t job_id, std::int64_t now_us,
                 const std::string& public_url);

struct StopAnswer {
  std::int64_t number = 0;  // the request's
  std::int64_t at_us = 0;
  bool refused = false;
  std::string reason;  // why it was refused
};

// The agent of this stream has answered, and its node's facts hold the answer already. A job goes
// on when all its agents that still send have refused the newest request.
Status StopAnswered(Connection& connection, std::int64_t job_id, std::string_view session,
                    const StopAnswer& answer, const std::string& public_url);

}  // namespace stepscope
