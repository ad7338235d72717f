#pragma once

#include <string_view>
#include <vector>

#include "server/store/jobs/jobs.h"

namespace stepscope {

// The median step in seconds that `rule` found for runs of the job's group that ended before the
// job was created, newest first, at most `most`. Empty without a group. A group is a word that
// everybody may use, so runs count only that the job's own maker made, and that whoever has a token
// for the job may read, too.
Result<std::vector<double>> ListPaces(Connection& connection, const JobRow& job,
                                      std::string_view rule, int most);

}  // namespace stepscope
