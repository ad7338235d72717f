#pragma once

#include <cstdint>
#include <vector>

#include "core/model/step.h"
#include "server/store/postgres/database.h"

namespace stepscope {

struct StepQuery {
  std::int64_t job_id = 0;
  int rank = 0;
  std::int64_t after_us = 0;  // start of the step, exclusive
  std::int64_t until_us = INT64_MAX;
  std::size_t most_rows = 100'000;
};
Result<std::vector<Step>> ReadSteps(Connection&, const StepQuery&);

}  // namespace stepscope
