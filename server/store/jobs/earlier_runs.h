#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/store/jobs/jobs.h"

namespace stepscope {

// What a rule said of the steps of a run.
struct RunPace {
  double step_s = 0;       // its median step, in seconds
  std::string setup = {};  // its ranks and hardware in words; "" when the rule did not tell
};

// What `rule` said of runs of the job's group that ended before the
// job was created, newest first, at most `most`. Empty without a group. A group is a word that
// everybody may use, so runs count only that the job's own maker made, and that whoever has a token
// for the job may read, too.
Result<std::vector<RunPace>> ListPaces(Connection& connection, const JobRow& job,
                                       std::string_view rule, int most);

}  // namespace stepscope
