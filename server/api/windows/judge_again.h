#pragma once

#include "server/store/jobs/jobs.h"

namespace stepscope {

// The rules of a job that has ended have said their last by windows that are others now: they have
// one more turn. Does nothing for a job that runs.
Status JudgeAgain(Connection& connection, const JobRow& job);

}  // namespace stepscope
