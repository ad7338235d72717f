#pragma once

#include <stop_token>
#include <string>

#include "server/store/database.h"

namespace stepscope {

// Brings the database at `url` to the newest schema, at a service's start. A PostgreSQL that is not
// there, starts, recovers or is restarted meanwhile is waited for, up to `patience` and with a
// line in the log; one that is up and refuses us (password, name) is believed after 3 s. Ends
// early, with the last error, when `stop` is asked for.
Status MigrateWhenUp(const std::string& url, Duration patience, const std::stop_token& stop);

}  // namespace stepscope
