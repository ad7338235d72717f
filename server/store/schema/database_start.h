#pragma once

#include <functional>
#include <string>

#include "core/base/worker.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// Sleeps so long; false when the wait is to end.
using Pause = std::function<bool(Duration)>;
inline bool SleepOn(Duration duration) {
  return SleepFor({}, duration);
}

// Brings the database at `url` to the newest schema, at a service's start. A PostgreSQL that is not
// there, starts, recovers or is restarted meanwhile is waited for, up to `patience` and with a
// line in the log; one that is up and refuses us (password, name) is believed after 3 s. Between
// two tries it pauses, and ends with the last error when that says so.
Status MigrateWhenUp(const std::string& url, Duration patience, const Pause& pause = SleepOn);

}  // namespace stepscope
