#pragma once

#include <cstdint>
#include <string>

#include "server/store/jobs/jobs.h"

namespace stepscope {

// Changes a job's status in the caller's transaction: row, transition, webhook deliveries
// (job.completed, job.failed, job.stopped). Nothing happens when it already has this status and
// secondary status, or has ended. A job that is Stopping ends as Stopped, however it ends.
struct JobChange {
  JobStatus status = JobStatus::kInProgress;
  std::string secondary_status, detail;
  Json failure;
  std::int64_t at_us = 0;     // also the job's end when the status is a final one
  std::int64_t now_us = 0;    // the service's clock: the age of a job that ended counts from here
  bool stop_refused = false;  // a job that is Stopping goes on
};
Status ChangeJob(Connection&, std::int64_t job_id, const JobChange&, const std::string& public_url);

}  // namespace stepscope
