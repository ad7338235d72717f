#pragma once

#include "server/api/body.h"
#include "server/store/jobs.h"

namespace stepscope {

// The body of POST /jobs, checked; rules with all their parameters. Faults are noted in the body.
NewJob ReadNewJob(Body& body);

// What a job that names no rules is judged by: every rule of the catalog with its defaults.
std::vector<NewJob::Rule> DefaultRules();

}  // namespace stepscope
