#include "server/store/ticks/job_head.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "server/store/frames/job_id.h"
#include "server/store/jobs/job_rows.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {
namespace {

// The first and the last tick of the node `n` of the job {0}; null without ticks.
constexpr std::string_view kFirst = R"(
    least(
        (select from_us from frames f where f.job_id = {0} and kind = 1
            and f.node_id = n.node_id order by to_us limit 1),
        (select from_us from blocks b where b.job_id = {0} and b.node_id = n.node_id
            and metric = '' order by window_us limit 1)))";
constexpr std::string_view kLast = R"(
    greatest(
        (select to_us from frames f where f.job_id = {0} and kind = 1
            and f.node_id = n.node_id order by to_us desc limit 1),
        (select to_us from blocks b where b.job_id = {0} and b.node_id = n.node_id
            and metric = '' order by window_us desc limit 1)))";
constexpr std::string_view kRanges = R"(
select node_id,{},{}
from nodes n
where job_id = $1
order by node_id
limit 10000)";
// A job without nodes has one row. Large columns are in one row only. Unsorted: sorting would be a
// tenth of the time.
constexpr std::string_view kHead = R"(
select j.job_id, j.name, job_group, status, secondary_status,
    case when row_number() over () = 1 then configuration end, created_us, started_us, j.ended_us,
    case when row_number() over () = 1 then failure end, samples_from_us, stop_requests,
    window_requests, window_start_step, window_num_steps, window_until_us, created_by,
    window_operators, window_shapes,
    n.name, n.last_seen_us, n.node_id,
    case when $2::text in ('', n.name) then {} end, case when $2::text in ('', n.name) then {} end
from jobs j
left join nodes n on n.job_id = j.job_id
where {}
limit 10000)";
constexpr std::size_t kConfiguration = 5;
constexpr std::size_t kNodeColumns = kJobColumnCount;  // after the columns of ReadJob

// How a statement says which job it means. PostgreSQL finds it by its name on the way; Citus has
// to know its number beforehand, since that tells on which machine its rows are.
struct JobWords {
  std::string_view is_wanted, number;
};
constexpr JobWords kByName = {"j.name = $1", "n.job_id"}, kByNumber = {"j.job_id = $1", "$1"};

// PostgreSQL initialises each part of a statement for each run, needed or not, which takes as long
// as running it. So parts that are not wanted are left out of the text.
std::string MakeHeadText(const JobWords& job, bool first, bool last) {
  const std::string none = "null::bigint";
  return Format(kHead, first ? Format(kFirst, job.number) : none,
                last ? Format(kLast, job.number) : none, job.is_wanted);
}

const std::string& HeadText(const RangesWanted& wanted, bool by_number) {
  static const auto texts = [] {
    std::array<std::string, 8> all;
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = MakeHeadText(i & 4 ? kByNumber : kByName, i & 2, i & 1);
    }
    return all;
  }();
  return texts[(by_number ? 4 : 0) + (wanted.first ? 2 : 0) + (wanted.last ? 1 : 0)];
}

Error NoJob(const std::string& name) {
  return NotFound(Format("job {} not found", Printable(name)));
}

Result<Statement> HeadStatement(Connection& connection, const std::string& name,
                                const RangesWanted& wanted) {
  if (!connection.distributed()) return Statement{HeadText(wanted, false), {name, wanted.node}};
  const Result<std::optional<std::int64_t>> job_id = FindJobId(connection, name);
  if (!job_id) return job_id.error();
  if (!*job_id) return NoJob(name);
  return Statement{HeadText(wanted, true), {**job_id, wanted.node}};
}

void AddRange(const Rows& rows, std::size_t row, std::size_t column, std::vector<TickRange>& list) {
  if (rows.IsNull(row, column + 1) && rows.IsNull(row, column + 2)) return;
  list.push_back({rows.Int(row, column), rows.Int(row, column + 1), rows.Int(row, column + 2)});
}

Result<JobHead> ReadHead(const Result<Rows>& rows, const std::string& name) {
  if (!rows) return rows.error();
  if (rows->empty()) return NoJob(name);
  std::size_t whole = 0;  // the row with the job's large columns
  while (whole + 1 < rows->size() && rows->IsNull(whole, kConfiguration)) ++whole;
  JobHead head{ReadJob(*rows, whole), {}, {}};
  for (std::size_t i = 0; i < rows->size() && !rows->IsNull(i, kNodeColumns); ++i) {
    head.nodes.push_back({rows->Int(i, kNodeColumns + 2), rows->Text(i, kNodeColumns),
                          rows->Int(i, kNodeColumns + 1)});
    AddRange(*rows, i, kNodeColumns + 2, head.ranges);
  }
  std::ranges::sort(head.nodes, {}, &NodeBrief::name);
  return head;
}

}  // namespace

Result<std::vector<TickRange>> ReadTickRanges(Connection& connection, std::int64_t job_id) {
  static const std::string sql = Format(kRanges, Format(kFirst, "$1"), Format(kLast, "$1"));
  const Result<Rows> rows = connection.QueryByKey(sql, {job_id});
  if (!rows) return rows.error();
  std::vector<TickRange> ranges;
  for (std::size_t i = 0; i < rows->size(); ++i) AddRange(*rows, i, 0, ranges);
  return ranges;
}

Result<JobHead> LoadJobHead(Connection& connection, const std::string& name,
                            const RangesWanted& wanted) {
  const Result<Statement> statement = HeadStatement(connection, name, wanted);
  if (!statement) return statement.error();
  return ReadHead(connection.QueryByKey(*statement), name);
}

Result<HeadAndTicks> LoadHeadAndTicks(Connection& connection, const std::string& name,
                                      const RangesWanted& wanted,
                                      const std::optional<TickQuery>& expected) {
  const Result<Statement> statement = HeadStatement(connection, name, wanted);
  if (!statement) return statement.error();
  Connection::PairOfRows rows =
      expected ? connection.QueryPair(*statement, ShortRangeStatement(connection, *expected))
               : Connection::PairOfRows{connection.QueryByKey(*statement), {}};
  Result<JobHead> head = ReadHead(rows.first, name);
  if (!head) return head.error();
  HeadAndTicks both{*std::move(head), {}};
  if (rows.second) both.ticks = {*expected, *std::move(rows.second)};
  return both;
}

}  // namespace stepscope
