#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "rules/engine/window_facts.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// What the windows of a job say of its time, by window and rank; at most the newest 64 traces.
// Numbers that are absent or absurd make a trace say nothing.
Result<std::vector<WindowFacts>> ReadWindowFacts(Connection& connection, std::int64_t job_id);

}  // namespace stepscope
