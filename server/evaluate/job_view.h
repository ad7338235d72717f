#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "rules/rule.h"
#include "server/evaluate/presence.h"
#include "server/store/jobs.h"

namespace stepscope {

// What an evaluation reads of its job, once.
struct JobView {
  JobRow job;
  JobFacts facts;
  std::vector<NodePresence> nodes;
  std::vector<RankRow> ranks;
};

Result<JobView> LoadView(Connection& connection, std::int64_t job_id, Time now, Duration silence);

// The newest runs before it in its group, as this rule saw them. Reads nothing without a group.
Status AddEarlierRuns(Connection& connection, std::string_view rule, JobView& view);

// Up to where the ticks of the job are seen now; those of the last `settle` wait while it runs.
std::optional<Time> SettledHorizon(const JobView& view, Duration settle);

}  // namespace stepscope
