#pragma once

#include <string>

#include "core/base/result.h"
#include "server/postgres/postgres_folder.h"

namespace stepscope {

// Ends a server and backends that were left in the cluster, and clears files that would keep a new
// one from starting. Returns what the new server's environment must hold: "" or
// "PG_GRANDPARENT_PID=<n>", which makes it take over a pid file whose number now belongs to another
// process. Unavailable: a process cannot be ended, or works in the cluster under that number and
// may be a server.
Result<std::string> ClearLeftovers(const PostgresFolder& folder);

}  // namespace stepscope
