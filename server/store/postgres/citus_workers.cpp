#include "server/store/postgres/citus_workers.h"

namespace stepscope {
namespace {

constexpr char kAsk[] = R"(
select nodeid::bigint, success
from run_command_on_workers('select 1') as asked
join pg_dist_node using (nodename, nodeport)
order by nodeid
limit 1000)";
constexpr char kMachineOf[] = R"(
select n.nodeid::bigint, n.nodename, n.nodeport::bigint
from jobs j
join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column('streams', j.job_id)
join pg_dist_node n on n.groupid = p.groupid
where j.name = $1 and n.noderole = 'primary'
order by n.nodeid
limit 1)";

}  // namespace

Result<std::vector<CitusWorker>> AskWorkers(Connection& connection) {
  const Result<Rows> rows = connection.Query(kAsk);
  if (!rows) return rows.error();
  std::vector<CitusWorker> workers;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    workers.push_back({rows->Int(i, 0), rows->Bool(i, 1)});
  }
  return workers;
}

Result<std::optional<CitusMachine>> FindMachineOf(Connection& connection, const std::string& job) {
  const Result<Rows> rows = connection.QueryByKey(kMachineOf, {job});
  if (!rows) return rows.error();
  if (rows->empty()) return std::optional<CitusMachine>();
  return std::optional(
      CitusMachine{rows->Int(0, 0), rows->Text(0, 1), static_cast<int>(rows->Int(0, 2))});
}

}  // namespace stepscope
