#pragma once

#include <vector>

#include "server/store/jobs/job_events.h"

namespace stepscope {

// What a push tells of its job: of each kind one event, however many frames tell it. Whoever sends
// nothing but frames that are refused adds a row with each push, not with each frame.
using PushEvents = std::vector<JobEvent>;

void Note(PushEvents& events, JobEvent event);
// In the caller's transaction.
Status Save(Connection& connection, std::int64_t job_id, const PushEvents& events);

}  // namespace stepscope
