#include "server/store/jobs/earlier_runs.h"

namespace stepscope {
namespace {

// A job may have several rules of the kind; their paces are the same.
constexpr char kPaces[] = R"(
select distinct on (ended_us, job_id) (s.verdict -> 'evidence' ->> 'pace_seconds')::float8
from jobs
join rule_configs c using (job_id)
join rule_states s using (job_id, rule_config_id)
where job_group = $1 and ended_us <= $2 and job_group <> '' and c.rule = $3
    and (s.verdict -> 'evidence' ->> 'pace_seconds')::float8 > 0
order by ended_us desc, job_id
limit $4)";

}  // namespace

Result<std::vector<double>> ListPaces(Connection& connection, const JobRow& job,
                                      std::string_view rule, int most) {
  if (job.group.empty()) return std::vector<double>();
  const Result<Rows> rows = connection.Query(kPaces, {job.group, job.created_us, rule, most});
  if (!rows) return rows.error();
  std::vector<double> paces;
  for (std::size_t i = 0; i < rows->size(); ++i) paces.push_back(rows->Real(i, 0));
  return paces;
}

}  // namespace stepscope
