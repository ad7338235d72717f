#pragma once

#include "server/api/body.h"
#include "server/store/jobs.h"

namespace stepscope {

// The body of POST /jobs, checked; rules with all their parameters. Faults are noted in the body.
NewJob ReadNewJob(Body& body);

}  // namespace stepscope
