#include "server/store/postgres/citus_workers.h"

namespace stepscope {
namespace {

constexpr char kAsk[] = R"(
select nodeid::bigint, success
from run_command_on_workers('select 1') as asked
join pg_dist_node using (nodename, nodeport)
order by nodeid
limit 1000)";

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

}  // namespace stepscope
