#pragma once

#include "core/base/clock.h"
#include "server/store/fleet/job_hours.h"

namespace stepscope {

// What is known of the hours of a job's GPUs at `now_us`: held from the first sample to the end, or
// to the newest frame; divided by cause as far as ProfilerReport, the rule that divides up time,
// has judged them. NotFound when the job was deleted meanwhile.
Result<JobHours> SumJob(Connection& connection, const UnsummedJob& job, std::int64_t now_us);

// Sums up jobs whose rows are missing or older than a minute, until the clock says `until` or none
// is left. Returns how many were summed up.
Result<int> SumJobs(Connection& connection, const Clock& clock, Time until);

}  // namespace stepscope
