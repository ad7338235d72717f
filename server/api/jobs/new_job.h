#pragma once

#include "server/api/http/body.h"
#include "server/store/jobs/jobs.h"
#include "server/store/rules/create_job.h"

namespace stepscope {

// The body of POST /jobs, checked; rules with all their parameters, `default_rules` where it names
// none. Faults are noted in the body.
NewJob ReadNewJob(Body& body, const std::vector<NewJob::Rule>& default_rules);

}  // namespace stepscope
