#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// An event of a job, for people: an agent began, frames were refused or lost, ...
struct JobEvent {
  std::int64_t at_us = 0;
  std::string kind, node;  // node: "" where the event is the whole job's
  std::int64_t count = 1;  // how many of the kind were in one push; the detail is the first one's
  Json detail = Json::object();
};

// In the caller's transaction.
Status AddEvent(Connection& connection, std::int64_t job_id, const JobEvent& event);

struct EventPage {
  std::vector<JobEvent> items;
  std::string next;  // "" at the end
  std::int64_t total = 0;
};

// Newest first. Invalid for a cursor of another list.
Result<EventPage> ListEvents(Connection& connection, std::int64_t job_id, const std::string& after,
                             int limit);

}  // namespace stepscope
