#pragma once

#include <cstdint>
#include <vector>

#include "core/wire/push_answer.h"
#include "server/store/jobs.h"

namespace stepscope {

// What is asked of the agent of a stream that has answered the change of the interval and the
// request to stop of these numbers (server/store/intervals.h, stops.h), and those before them.
std::vector<ServiceCommand> CommandsFor(const JobRow& job, std::int64_t interval_answered,
                                        std::int64_t stop_answered);

}  // namespace stepscope
