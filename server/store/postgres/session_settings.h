#pragma once

#include <algorithm>
#include <string>

#include "core/base/text.h"
#include "core/base/time.h"

namespace stepscope {

// PostgreSQL's way of planning a prepared statement. Custom: each time for the values at hand, as a
// session begins. Generic: once, for any values, and always through indexes: an empty table would
// be planned as a whole scan, and still be scanned when it has grown. Without bitmaps, which would
// collect all rows that are due to find the first. Free: as PostgreSQL chooses; Citus finds the
// machine of a job by values, refuses most generic plans, and its 13.2 ends with a fault on some.
enum class Plan { kCustom, kGeneric, kFree };

inline const char* SetPlan(Plan plan) {
  if (plan == Plan::kFree) return "set plan_cache_mode = auto";
  return plan == Plan::kCustom
             ? "set plan_cache_mode = force_custom_plan; set enable_seqscan = on;"
               "set enable_bitmapscan = on; set enable_hashjoin = on; set enable_mergejoin = on"
             : "set plan_cache_mode = force_generic_plan; set enable_seqscan = off;"
               "set enable_bitmapscan = off; set enable_hashjoin = off; set enable_mergejoin = off";
}

// The settings that a session begins with; a statement may take as long as the caller waits for it.
inline std::string SessionSettings(Duration deadline) {
  const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(deadline).count();
  return Format(
      "-c statement_timeout={} -c idle_in_transaction_session_timeout=10000 -c jit=off"
      " -c plan_cache_mode=force_custom_plan",
      std::max<std::int64_t>(millis - 500, 100));
}

}  // namespace stepscope
