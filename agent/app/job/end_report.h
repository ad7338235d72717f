#pragma once

#include <string>

#include "agent/app/job/job_session.h"
#include "agent/frames/lifecycle.h"

namespace stepscope {

// Logs how a job's command ended, and what was not delivered. `kept`: undelivered frames are in the
// spool.
void ReportEnd(const std::string& job, const CommandEnd& end, const JobSession& session, bool kept);

}  // namespace stepscope
