#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "server/store/postgres/connection.h"

namespace stepscope {

// The number of the job with this name, which tells on which machine of a cluster its rows are.
// Nothing when there is no such job.
Result<std::optional<std::int64_t>> FindJobId(Connection& connection, const std::string& name);

}  // namespace stepscope
