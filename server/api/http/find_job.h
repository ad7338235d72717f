#pragma once

#include <cstdint>
#include <string_view>

#include "server/front/route.h"
#include "server/store/ticks/job_head.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {

// The job that the path names. Invalid for what cannot be a name, NotFound for one that is not
// there.
Result<JobRow> FindNamedJob(Connection& connection, const PathParameters& path);

// That job with its nodes and the ranges of their ticks.
Result<JobHead> FindNamedHead(Connection& connection, const PathParameters& path,
                              const RangesWanted& wanted);
// And with the ticks that are expected to be read next, in one round trip (LoadHeadAndTicks).
Result<HeadAndTicks> FindHeadAndTicks(Connection& connection, const PathParameters& path,
                                      const RangesWanted& wanted,
                                      const std::optional<TickQuery>& expected);

// The number in the path; NotFound for what cannot be one.
Result<std::int64_t> ReadId(const PathParameters& path, std::string_view what);

}  // namespace stepscope
