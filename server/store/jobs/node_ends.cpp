#include "server/store/jobs/node_ends.h"

#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kSomeRuns[] = R"(
select 1
from nodes
where job_id = $1 and ended_us is null and facts <> '{}'
limit 1)";
// A command that an agent started has an exit code or a signal.
constexpr char kFirstFailed[] = R"(
select name, exit_code, exit_signal, output, coalesce(facts ->> 'end_reason', '')
from nodes
where job_id = $1 and facts <> '{}' and (exit_code <> 0 or exit_signal is not null)
order by ended_us, node_id
limit 1)";
constexpr char kLastAndUnknown[] = R"(
select coalesce(max(ended_us), 0),
    coalesce(min(name) filter (
        where facts <> '{}' and exit_code is null and exit_signal is null), '')
from nodes
where job_id = $1)";

}  // namespace

Result<bool> SomeNodeRuns(Connection& connection, std::int64_t job_id) {
  const Result<Rows> rows = connection.QueryByKey(kSomeRuns, {job_id});
  if (!rows) return rows.error();
  return !rows->empty();
}

Result<NodeEnds> HowNodesEnded(Connection& connection, std::int64_t job_id) {
  const Result<Rows> failed = connection.QueryByKey(kFirstFailed, {job_id});
  if (!failed) return failed.error();
  const Result<Rows> others = connection.QueryByKey(kLastAndUnknown, {job_id});
  if (!others) return others.error();
  NodeEnds ends;
  if (!failed->empty()) {
    ends.failed = FailedNode{failed->Text(0, 0), failed->MaybeInt(0, 1), failed->MaybeInt(0, 2),
                             ReadJson(*failed, 0, 3), failed->Text(0, 4)};
  }
  ends.last_us = others->Int(0, 0);
  ends.unknown = others->Text(0, 1);
  return ends;
}

}  // namespace stepscope
