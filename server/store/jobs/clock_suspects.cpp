#include "server/store/jobs/clock_suspects.h"

namespace stepscope {
namespace {

constexpr char kListSuspects[] = R"(
select node_id, clock_suspect_since_us, clock_suspect_until_us, clock_suspect_offset_us
from nodes
where job_id = $1 and clock_suspect_since_us is not null
order by node_id
limit 10000)";

}  // namespace

Result<std::map<std::int64_t, ClockSuspect>> ListClockSuspects(Connection& connection,
                                                               std::int64_t job_id) {
  const Result<Rows> rows = connection.QueryByKey(kListSuspects, {job_id});
  if (!rows) return rows.error();
  std::map<std::int64_t, ClockSuspect> suspects;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    suspects[rows->Int(i, 0)] = {rows->Int(i, 1), rows->Int(i, 2), rows->Int(i, 3)};
  }
  return suspects;
}

}  // namespace stepscope
