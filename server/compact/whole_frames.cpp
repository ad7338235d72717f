#include "server/compact/whole_frames.h"

#include "server/compact/transaction_limits.h"

namespace stepscope {

Status ForEachWholeFrame(Connection& connection, std::int64_t job_id,
                         const std::vector<FrameKey>& keys, std::size_t count,
                         const Schemas& schemas, const TakeWhole& take) {
  const auto whole = [&](const Schema* schema, const std::string& payload) -> Status {
    if (!schema) return Internal("frame: its schema is gone");
    if (payload.empty()) return Conflict(kTaken);
    return take(payload, *schema);
  };
  return ForEachFrame(connection, job_id, keys, count, schemas, whole);
}

}  // namespace stepscope
