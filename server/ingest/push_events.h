#pragma once

#include <vector>

#include "server/store/jobs/job_events.h"

namespace stepscope {

// The events that a push adds to its job, one of each kind, however many frames tell it: a sender
// whose frames are all refused adds a row with each push, not with each frame.
using PushEvents = std::vector<JobEvent>;

void Note(PushEvents& events, JobEvent event);
// In the caller's transaction.
Status Save(Connection& connection, std::int64_t job_id, const PushEvents& events);

}  // namespace stepscope
