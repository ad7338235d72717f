#pragma once

#include <cstdint>
#include <string_view>

#include "server/front/route.h"
#include "server/store/ticks/job_head.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {

// The job that the path names. Invalid for a name that no job can have, NotFound for a job that
// does not exist.
Result<JobRow> FindNamedJob(Connection& connection, const PathParameters& path);

// The job that the path names, with its nodes and the ranges of their ticks.
Result<JobHead> FindNamedHead(Connection& connection, const PathParameters& path,
                              const RangesWanted& wanted);
// The head with the ticks that are expected to be read next, in one round trip (LoadHeadAndTicks).
Result<HeadAndTicks> FindHeadAndTicks(Connection& connection, const PathParameters& path,
                                      const RangesWanted& wanted,
                                      const std::optional<TickQuery>& expected);

// The number in the path; NotFound for text that is no such number.
Result<std::int64_t> ReadId(const PathParameters& path, std::string_view what);

}  // namespace stepscope
