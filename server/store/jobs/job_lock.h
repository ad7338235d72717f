#pragma once

#include <optional>

#include "server/store/jobs/jobs.h"

namespace stepscope {

// Reads the row of a job and locks it until the caller commits: who locks it second sees the first
// one's changes. nullopt when the job is gone. Nodes of the job are locked before it.
Result<std::optional<JobRow>> LockJob(Connection& connection, std::int64_t job_id);

}  // namespace stepscope
