#include "server/api/windows/judge_again.h"

#include "server/store/fleet/job_hours.h"
#include "server/store/rules/rule_tasks.h"

namespace stepscope {

Status JudgeAgain(Connection& connection, const JobRow& job) {
  if (!job.ended_us) return {};
  const Status due = JudgeOnceMore(connection, job.job_id);
  return due ? UnsettleJobHours(connection, job.job_id) : due;
}

}  // namespace stepscope
