#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/base/options.h"
#include "core/base/result.h"

namespace stepscope {

// The samples that make_frames makes.
struct Plan {
  std::string job, metric;
  bool job_each = false, all_metrics = false;
  std::int64_t nodes = 0, cores = 0, gpus = 0, ranks = 0, step_us = 0, ticks = 0, tick_us = 0,
               ticks_per_push = 0, begin_us = 0;
};

// The options of make_frames; the files among them are not in the plan.
std::span<const Option> PlanOptions();

Result<Plan> ReadPlan(const Arguments& arguments);

}  // namespace stepscope
