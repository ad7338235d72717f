#pragma once

#include <optional>
#include <vector>

#include "core/base/result.h"
#include "rules/engine/rule.h"
#include "server/evaluate/presence.h"
#include "server/store/jobs/jobs.h"

namespace stepscope {

// The data of a job that an evaluation reads once.
struct JobView {
  JobRow job;
  JobFacts facts;
  std::vector<NodePresence> nodes;
  std::vector<RankRow> ranks;  // without their facts
};

Result<JobView> LoadView(Connection& connection, std::int64_t job_id, Time now, Duration silence);

// The time up to which the ticks of the job are seen now; ticks of the last `settle` wait while the
// job runs.
std::optional<Time> SettledHorizon(const JobView& view, Duration settle);

}  // namespace stepscope
