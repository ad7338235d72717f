#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/json.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// What a rule IdleGPU of a job said last.
struct IdleVerdict {
  std::int64_t job_id = 0;
  std::optional<std::int64_t> evaluated_us;  // none: it had no turn yet
  Json verdict;
};
// By number of the job; at most 1,000.
Result<std::vector<IdleVerdict>> ReadIdleVerdicts(Connection&,
                                                  std::span<const std::int64_t> job_ids);

}  // namespace stepscope
