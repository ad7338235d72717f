#pragma once

#include <map>
#include <string>
#include <vector>

#include "server/ingest/group.h"

namespace stepscope {

// The names of the items' jobs, in order, each once.
std::vector<std::string> NamesOf(const std::vector<GroupItem>& items);

// The existing jobs of the items, by name; `found` are those that existed when the transaction
// began. An unknown job that an agent starts is made, in the order of names.
Result<std::map<std::string, JobRow>> JobsOf(Connection& connection, const Rows& found,
                                             const std::vector<GroupItem>& items,
                                             const IngestOptions& options, std::int64_t now_us);

}  // namespace stepscope
