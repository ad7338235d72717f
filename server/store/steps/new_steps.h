#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/model/step.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// The last known step of a rank: steps that start later are new.
struct StepPosition {
  int rank = 0;
  std::int64_t after_us = 0;
};

// The new steps of several ranks of a job up to `until_us`, sorted, each once: the answers of
// ReadSteps to each, in one statement and from one snapshot. nullopt when there are more frames and
// blocks than a running job has between two evaluations.
Result<std::optional<std::map<int, std::vector<Step>>>> ReadNewSteps(
    Connection& connection, std::int64_t job_id, std::span<const StepPosition> positions,
    std::int64_t until_us);

}  // namespace stepscope
