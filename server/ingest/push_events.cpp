#include "server/ingest/push_events.h"

#include <algorithm>

namespace stepscope {

void Note(PushEvents& events, JobEvent event) {
  const auto known = std::ranges::find(events, event.kind, &JobEvent::kind);
  if (known == events.end()) {
    events.push_back(std::move(event));
  } else {
    known->count += event.count;
  }
}

Status Save(Connection& connection, std::int64_t job_id, const PushEvents& events) {
  for (const JobEvent& event : events) {
    if (Status added = AddEvent(connection, job_id, event); !added) return added;
  }
  return {};
}

}  // namespace stepscope
