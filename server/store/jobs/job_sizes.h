#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

struct JobSize {
  std::int64_t nodes = 0, gpus = 0;
};

// The sizes of jobs that have nodes. GPUs are counted in the facts of nodes for the first jobs, up
// to kMostNodesRead nodes together: to read those of 30 jobs with 10,000 nodes takes seconds. For
// the others they are those of job_hours, which may be two minutes old.
inline constexpr std::int64_t kMostNodesRead = 10'000;
Result<std::map<std::int64_t, JobSize>> JobSizesOf(Connection& connection,
                                                   const std::vector<std::int64_t>& jobs,
                                                   std::int64_t most_nodes = kMostNodesRead);

}  // namespace stepscope
