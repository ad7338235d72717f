#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// A window of operators, and what it cost the training.
struct WindowCost {
  std::int64_t window_id = 0;
  std::string asked_by;
  std::int64_t asked_us = 0;
  int ranks = 0;            // with a trace
  double cost_seconds = 0;  // what the rank that paid most paid: begin, end, file, slower steps
};

// The windows of operators that the job has, the newest first; at most 1,000. Files that somebody
// imported are none.
Result<std::vector<WindowCost>> ListWindowCosts(Connection& connection, std::int64_t job_id);

// Keeps why the service asks for no window by itself now; "" where nothing stands against it.
Status NoteWindow(Connection& connection, std::int64_t job_id, const std::string& note);
Result<std::string> ReadWindowNote(Connection& connection, std::int64_t job_id);

}  // namespace stepscope
