#include "server/store/jobs/job_lock.h"

#include "core/base/text.h"
#include "server/store/jobs/job_rows.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {

Result<std::optional<JobRow>> LockJob(Connection& connection, std::int64_t job_id) {
  static const std::string sql =
      Format("select {} from jobs where job_id = $1 for no key update", kJobColumns);
  const Result<Rows> rows = connection.QueryByKey(sql, {job_id});
  if (!rows) return rows.error();
  return rows->empty() ? std::nullopt : std::optional(ReadJob(*rows, 0));
}

}  // namespace stepscope
