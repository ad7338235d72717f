#pragma once

#include <map>
#include <string>
#include <vector>

#include "server/ingest/group.h"

namespace stepscope {

// The jobs of the items that exist, by name, in the caller's transaction; what an agent starts and
// nobody knows is made, in the order of names.
Result<std::map<std::string, JobRow>> JobsOf(Connection& connection,
                                             const std::vector<GroupItem>& items,
                                             const IngestOptions& options, std::int64_t now_us);

}  // namespace stepscope
