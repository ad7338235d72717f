// First and last ticks, of a job that is known and together with the job.

#include "core/base/text.h"
#include "server/store/job_head.h"
#include "server/store/job_rows.h"

namespace stepscope {
namespace {

// Of the node `n`, null without ticks.
constexpr std::string_view kFirst = R"(
    least(
        (select from_us from frames f where f.job_id = n.job_id and kind = 1
            and f.node_id = n.node_id order by to_us limit 1),
        (select from_us from blocks b where b.job_id = n.job_id and b.node_id = n.node_id
            and metric = '' order by window_us limit 1)))";
constexpr std::string_view kLast = R"(
    greatest(
        (select to_us from frames f where f.job_id = n.job_id and kind = 1
            and f.node_id = n.node_id order by to_us desc limit 1),
        (select to_us from blocks b where b.job_id = n.job_id and b.node_id = n.node_id
            and metric = '' order by window_us desc limit 1)))";
constexpr std::string_view kRanges = R"(
select node_id,{},{}
from nodes n
where job_id = $1
order by node_id
limit 10000)";
// A job without nodes has one row. What may be large stands in the first one only.
constexpr std::string_view kHead = R"(
select j.job_id, j.name, job_group, status, secondary_status,
    case when row_number() over (order by n.name) = 1 then configuration end, created_us,
    started_us, j.ended_us, case when row_number() over (order by n.name) = 1 then failure end,
    samples_from_us, n.name, n.last_seen_us, n.node_id,
    case when $2::text in ('', n.name) then {} end, case when $2::text in ('', n.name) then {} end
from jobs j
left join nodes n on n.job_id = j.job_id
where j.name = $1
order by n.name
limit 10000)";
constexpr std::size_t kNodeColumns = 11;  // behind those of ReadJob

// PostgreSQL prepares each part of a statement anew for each run, needed or not: that takes as long
// as running it. So what is not wanted does not stand in it.
const std::string& HeadText(const RangesWanted& wanted) {
  constexpr std::string_view kNone = "null::bigint";
  static const std::string texts[2][2] = {
      {Format(kHead, kNone, kNone), Format(kHead, kNone, kLast)},
      {Format(kHead, kFirst, kNone), Format(kHead, kFirst, kLast)}};
  return texts[wanted.first][wanted.last];
}

void AddRange(const Rows& rows, std::size_t row, std::size_t column, std::vector<TickRange>& list) {
  if (rows.IsNull(row, column + 1) && rows.IsNull(row, column + 2)) return;
  list.push_back({rows.Int(row, column), rows.Int(row, column + 1), rows.Int(row, column + 2)});
}

}  // namespace

Result<std::vector<TickRange>> ReadTickRanges(Connection& connection, std::int64_t job_id) {
  static const std::string sql = Format(kRanges, kFirst, kLast);
  const Result<Rows> rows = connection.QueryByKey(sql, {job_id});
  if (!rows) return rows.error();
  std::vector<TickRange> ranges;
  for (std::size_t i = 0; i < rows->size(); ++i) AddRange(*rows, i, 0, ranges);
  return ranges;
}

Result<JobHead> LoadJobHead(Connection& connection, const std::string& name,
                            const RangesWanted& wanted, const std::optional<Statement>& next) {
  const Statement question = {HeadText(wanted), {name, wanted.node}};
  const Result<Rows> rows =
      next ? connection.QueryByKey(question, *next) : connection.QueryByKey(question);
  if (!rows) return rows.error();
  if (rows->empty()) return NotFound(Format("job {} not found", Printable(name)));
  JobHead head{ReadJob(*rows, 0), {}, {}};
  for (std::size_t i = 0; i < rows->size() && !rows->IsNull(i, kNodeColumns); ++i) {
    head.nodes.push_back({rows->Int(i, kNodeColumns + 2), rows->Text(i, kNodeColumns),
                          rows->Int(i, kNodeColumns + 1)});
    AddRange(*rows, i, kNodeColumns + 2, head.ranges);
  }
  return head;
}

}  // namespace stepscope
