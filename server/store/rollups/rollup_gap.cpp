#include "server/store/rollups/rollup_gap.h"

#include "server/store/rollups/rollups.h"
#include "server/store/ticks/blocks.h"

namespace stepscope {
namespace {

constexpr char kFind[] = R"(
select 1
from unnest($2::bigint[]) as wanted (node_id)
cross join lateral (
    select node_id, window_us
    from blocks
    where job_id = $1 and node_id = wanted.node_id and window_us between $4 and $5
    order by window_us desc
    limit 1) as latest
where exists (
        select 1
        from blocks
        where job_id = $1 and node_id = latest.node_id and window_us = latest.window_us
            and metric = $3 and from_us <= $5 and to_us >= $8)
    and not exists (
        select 1
        from rollups
        where job_id = $1 and bin_us = $6 and metric = $3 and node_id = latest.node_id
            and chunk_us = latest.window_us - latest.window_us % $7)
limit 1)";

}  // namespace

Result<bool> HasRollupGap(Connection& connection, const UnrolledQuery& query) {
  const RollupLevel* level = LevelFor(query.bin_us);
  if (!level) return false;
  const Result<Rows> rows =
      connection.Query(kFind, {query.job_id, Parameter::Array(query.node_ids), query.metric,
                               BlockWindowOf(query.from_us), query.until_us, level->bin_us,
                               level->chunk_us, query.from_us});
  if (!rows) return rows.error();
  return !rows->empty();
}

}  // namespace stepscope
