#pragma once

#include "server/front/route.h"
#include "server/store/jobs.h"

namespace stepscope {

// The job that the path names. Invalid for what cannot be a name, NotFound for one that is not
// there.
Result<JobRow> FindNamedJob(Connection& connection, const PathParameters& path);

}  // namespace stepscope
