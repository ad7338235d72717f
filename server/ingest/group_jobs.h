#pragma once

#include <map>
#include <string>
#include <vector>

#include "server/ingest/group.h"

namespace stepscope {

// In order, each once.
std::vector<std::string> NamesOf(const std::vector<GroupItem>& items);

// The jobs of the items that exist, by name; `found` are those that did when the transaction began.
// What an agent starts and nobody knows is made, in the order of names.
Result<std::map<std::string, JobRow>> JobsOf(Connection& connection, const Rows& found,
                                             const std::vector<GroupItem>& items,
                                             const IngestOptions& options, std::int64_t now_us);

}  // namespace stepscope
