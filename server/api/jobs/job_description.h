#pragma once

#include "server/api/http/routes.h"

namespace stepscope {

// Answers GET /jobs/{name}, and the calls that change a job.
Result<Reply> DescribeJob(const Api& api, Connection& connection, const Request& request,
                          const PathParameters& path);

}  // namespace stepscope
