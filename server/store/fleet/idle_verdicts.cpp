#include "server/store/fleet/idle_verdicts.h"

#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kIdleVerdicts[] = R"(
select job_id, evaluated_us, verdict
from rule_configs
join rule_states using (job_id, rule_config_id)
where job_id = any($1::bigint[]) and rule = 'IdleGPU'
order by job_id, rule_config_id
limit 1000)";

}  // namespace

Result<std::vector<IdleVerdict>> ReadIdleVerdicts(Connection& connection,
                                                  std::span<const std::int64_t> job_ids) {
  if (job_ids.empty()) return std::vector<IdleVerdict>();
  const Result<Rows> rows = connection.Query(kIdleVerdicts, {Parameter::Array(job_ids)});
  if (!rows) return rows.error();
  std::vector<IdleVerdict> verdicts;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    verdicts.push_back({rows->Int(i, 0), rows->MaybeInt(i, 1), ReadJson(*rows, i, 2)});
  }
  return verdicts;
}

}  // namespace stepscope
