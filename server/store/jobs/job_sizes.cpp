#include "server/store/jobs/job_sizes.h"

namespace stepscope {
namespace {

constexpr char kCountNodes[] = R"(
select job_id, count(*)
from nodes
where job_id = any($1::bigint[])
group by job_id
order by job_id
limit 1000)";
constexpr char kCountGpus[] = R"(
select job_id, sum(
    case when jsonb_typeof(facts -> 'gpus') = 'array' then jsonb_array_length(facts -> 'gpus')
    else 0 end)::bigint
from nodes
where job_id = any($1::bigint[])
group by job_id
order by job_id
limit 1000)";
constexpr char kSummedGpus[] = R"(
select job_id, gpus
from job_hours
where job_id = any($1::bigint[])
order by job_id
limit 1000)";

}  // namespace

Result<std::map<std::int64_t, JobSize>> JobSizesOf(Connection& connection,
                                                   const std::vector<std::int64_t>& jobs,
                                                   std::int64_t most_nodes) {
  std::map<std::int64_t, JobSize> sizes;
  const Result<Rows> nodes = connection.Query(kCountNodes, {Parameter::Array(jobs)});
  if (!nodes) return nodes.error();
  for (std::size_t i = 0; i < nodes->size(); ++i) sizes[nodes->Int(i, 0)].nodes = nodes->Int(i, 1);
  std::vector<std::int64_t> read, summed;
  for (const std::int64_t job_id : jobs) {
    const auto size = sizes.find(job_id);
    if (size == sizes.end()) continue;
    const bool fits = size->second.nodes <= most_nodes;
    if (fits) most_nodes -= size->second.nodes;
    (fits ? read : summed).push_back(job_id);
  }
  const auto add = [&](const char* sql, const std::vector<std::int64_t>& some) -> Status {
    if (some.empty()) return {};
    const Result<Rows> gpus = connection.Query(sql, {Parameter::Array(some)});
    if (!gpus) return gpus.error();
    for (std::size_t i = 0; i < gpus->size(); ++i) sizes[gpus->Int(i, 0)].gpus = gpus->Int(i, 1);
    return {};
  };
  if (Status added = add(kCountGpus, read); !added) return added.error();
  if (Status added = add(kSummedGpus, summed); !added) return added.error();
  return sizes;
}

}  // namespace stepscope
