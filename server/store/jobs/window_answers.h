#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "server/store/jobs/windows.h"

namespace stepscope {

// Stores the answer of this stream's agent. An answer to a window that does not exist is ignored.
Status WindowAnswered(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                      std::string_view session, const WindowAnswer& answer);

// Fills in how many answers there are, and the first `most` of each window; the windows are in
// falling order.
Status AddAnswers(Connection& connection, std::int64_t job_id, std::vector<WindowRow>& windows,
                  std::int64_t most);

}  // namespace stepscope
