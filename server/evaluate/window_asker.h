#pragma once

#include <cstdint>
#include <map>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// Asks for windows of operators that nobody asked for, in jobs whose agents were started with
// --windows auto (window_choice.h says when). Any thread may call it; `clock` outlives it.
class WindowAsker {
 public:
  explicit WindowAsker(const Clock& clock) : clock_(clock) {}

  // Looks at a job, at most each kLook of the clock. A job that has ended, and one whose agents
  // allow no automatic windows, cost a read of its row and its nodes. Errors are of the database.
  static constexpr Duration kLook = 10s;
  Status Consider(Connection& connection, std::int64_t job_id);

 private:
  bool IsDue(std::int64_t job_id);

  const Clock& clock_;
  Guarded<std::map<std::int64_t, SteadyTime>> looked_;  // by job
};

}  // namespace stepscope
