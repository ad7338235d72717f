#pragma once

#include "server/api/http/routes.h"

namespace stepscope {

// GET /jobs/{name}, which is also what calls answer that change a job.
Result<Reply> DescribeJob(const Api& api, Connection& connection, const Request& request,
                          const PathParameters& path);

}  // namespace stepscope
