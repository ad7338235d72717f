#pragma once

#include "server/store/jobs/jobs.h"

namespace stepscope {

// The columns of `jobs` in the order that ReadJob takes them, for the statements of this folder.
inline constexpr std::string_view kJobColumns =
    "job_id, name, job_group, status, secondary_status, configuration, created_us, started_us, "
    "ended_us, failure, samples_from_us, stop_requests, window_requests, window_start_step, "
    "window_num_steps, window_until_us, created_by, window_operators, "
    "window_shapes";
inline constexpr int kJobColumnCount = 19;
JobRow ReadJob(const Rows& rows, std::size_t row);

// The address of the job's page, for messages of webhooks.
std::string JobUrl(const std::string& public_url, const std::string& job);

}  // namespace stepscope
