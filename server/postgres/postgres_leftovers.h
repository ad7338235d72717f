#pragma once

#include <string>

#include "core/base/result.h"
#include "server/postgres/postgres_folder.h"

namespace stepscope {

// Ends a server and backends that were left in the cluster, and clears what would keep a new one
// from starting. What the new one's environment must hold: "" or "PG_GRANDPARENT_PID=<n>", which
// makes it take over a pid file whose number now belongs to someone else. Unavailable: someone
// cannot be ended, or stands in the cluster with that number and may be a server.
Result<std::string> ClearLeftovers(const PostgresFolder& folder);

}  // namespace stepscope
