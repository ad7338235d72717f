#pragma once

#include <optional>

#include "server/store/jobs/jobs.h"

namespace stepscope {

// The row of a job as it stands, which nobody else changes until the caller commits: who locks it
// second sees what the first has done. Nothing when the job is gone. Whoever locks nodes of the job
// too does that before.
Result<std::optional<JobRow>> LockJob(Connection& connection, std::int64_t job_id);

}  // namespace stepscope
