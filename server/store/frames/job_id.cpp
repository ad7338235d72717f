#include "server/store/frames/job_id.h"

namespace stepscope {

Result<std::optional<std::int64_t>> FindJobId(Connection& connection, const std::string& name) {
  const Result<Rows> found =
      connection.QueryByKey("select job_id from jobs where name = $1", {name});
  if (!found) return found.error();
  if (found->empty()) return std::optional<std::int64_t>();
  return std::optional(found->Int(0, 0));
}

}  // namespace stepscope
