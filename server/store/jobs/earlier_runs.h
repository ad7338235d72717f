#pragma once

#include <string_view>
#include <vector>

#include "server/store/jobs/jobs.h"

namespace stepscope {

// What `rule` found to be the pace of the newest runs of the job's group that ended before the job
// was made: their median steps in seconds, newest first, at most `most`. None without a group.
Result<std::vector<double>> ListPaces(Connection& connection, const JobRow& job,
                                      std::string_view rule, int most);

}  // namespace stepscope
