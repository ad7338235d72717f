#pragma once

#include <string_view>
#include <vector>

#include "server/store/jobs/jobs.h"

namespace stepscope {

// The median step in seconds that `rule` found for runs of the job's group that ended before the
// job was created, newest first, at most `most`. Empty without a group.
Result<std::vector<double>> ListPaces(Connection& connection, const JobRow& job,
                                      std::string_view rule, int most);

}  // namespace stepscope
