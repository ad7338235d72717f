#pragma once

#include <cstdint>
#include <string_view>

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

// The number in the path; NotFound for what cannot be one.
Result<std::int64_t> ReadId(const PathParameters& path, std::string_view what);

}  // namespace stepscope
