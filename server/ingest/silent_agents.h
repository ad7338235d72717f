#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/time.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// Tells webhooks of each node whose agent was not heard for so long (agent.silent), and of each job
// none of whose agents was (job.stalled), once for each silence; notes it in the job's events.
// Called by housekeeping, by any number of services. Says how many nodes. A failure for one job is
// logged, and the job tried again at the next call.
Result<int> TellSilentAgents(Connection& connection, Duration silent_after, std::int64_t now_us,
                             const std::string& public_url);

// Whether the database answers and can be written to, as frames are.
Status TakesFrames(Connection& connection);

// Counts for how long this service has listened. While it was down, had no database, refused frames
// or slept, and when its clock was set, agents spoke to nobody: their silence says nothing. For one
// thread.
class Listening {
 public:
  // Called at each turn of housekeeping at which agents can be heard. Says for how long that has
  // been so, without a break.
  Duration For(Time now);
  // Called at each of the other turns: listening begins anew at the next one.
  void Stop() { last_.reset(); }

 private:
  Time since_;
  std::optional<Time> last_;  // none while it does not listen
};

}  // namespace stepscope
