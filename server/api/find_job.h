#pragma once

#include "server/front/route.h"
#include "server/store/ticks/job_head.h"

namespace stepscope {

// The job that the path names. Invalid for what cannot be a name, NotFound for one that is not
// there.
Result<JobRow> FindNamedJob(Connection& connection, const PathParameters& path);

// The same with its nodes and their ticks; `next` as LoadJobHead takes it.
Result<JobHead> FindNamedHead(Connection& connection, const PathParameters& path,
                              const RangesWanted& wanted,
                              const std::optional<Statement>& next = {});

}  // namespace stepscope
