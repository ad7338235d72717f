#include "server/store/traces/traces.h"

#include "core/base/text.h"
#include "server/store/traces/window_source.h"

namespace stepscope {
namespace {

// Without what rules are told, which no list shows.
constexpr char kListTraces[] = R"(
select window_id, rank, file, digest, received_us, from_us, to_us, listed.spans,
    summary - 'evidence'
from windows
cross join lateral (
    select rank, file, digest, received_us, from_us, to_us, spans, summary
    from traces
    where traces.job_id = $1 and traces.window_id = windows.window_id
    order by rank
    limit $4) as listed
where job_id = $1 and window_id between $2 and $3
order by window_id, rank
limit 10000)";
constexpr char kCountTraces[] = R"(
select window_id, count(*)
from traces
where job_id = $1 and window_id between $2 and $3
group by window_id
order by window_id
limit 1000)";
constexpr char kFindTrace[] = R"(
select window_id, rank, file, digest, received_us, from_us, to_us, spans, summary
from traces
where job_id = $1 and window_id = $2 and ($3::bigint is null or rank = $3)
order by rank
limit 1)";
constexpr char kFindTraceBefore[] = R"(
select window_id, rank, file, digest, received_us, from_us, to_us, spans, summary
from traces
where job_id = $1 and window_id < $2 and ($3::bigint is null or rank = $3)
order by window_id desc, rank
limit 1)";
constexpr char kListEvidence[] = R"(
select window_id, rank, summary -> 'evidence'
from traces
where job_id = $1 and jsonb_typeof(summary -> 'evidence') = 'object'
order by window_id desc, rank
limit $2)";
TraceRow ReadTrace(const Rows& rows, std::size_t row) {
  TraceRow trace{.window_id = rows.Int(row, 0),
                 .rank = static_cast<int>(rows.Int(row, 1)),
                 .file = rows.Text(row, 2),
                 .digest = rows.Bytes(row, 3),
                 .received_us = rows.Int(row, 4),
                 .from_us = rows.Int(row, 5),
                 .to_us = rows.Int(row, 6),
                 .spans = rows.Int(row, 7),
                 .summary = {}};
  const Result<Json> summary =
      ParseJson(rows.Text(row, 8), {.bytes = 4 * 1024 * 1024, .values = 200'000});
  trace.summary = summary ? *summary : Json::object();
  return trace;
}

}  // namespace

Result<std::vector<TraceRow>> ListTraces(Connection& connection, std::int64_t job_id,
                                         const WindowRange& windows, std::int64_t most) {
  const Result<Rows> rows =
      connection.Query(kListTraces, {job_id, windows.first, windows.last, most});
  if (!rows) return rows.error();
  std::vector<TraceRow> traces;
  for (std::size_t i = 0; i < rows->size(); ++i) traces.push_back(ReadTrace(*rows, i));
  return traces;
}

Result<std::map<std::int64_t, std::int64_t>> CountTraces(Connection& connection,
                                                         std::int64_t job_id,
                                                         const WindowRange& windows) {
  const Result<Rows> rows = connection.Query(kCountTraces, {job_id, windows.first, windows.last});
  if (!rows) return rows.error();
  std::map<std::int64_t, std::int64_t> counts;
  for (std::size_t i = 0; i < rows->size(); ++i) counts[rows->Int(i, 0)] = rows->Int(i, 1);
  return counts;
}

Result<std::vector<TraceEvidence>> ListEvidence(Connection& connection, std::int64_t job_id,
                                                int most) {
  const Result<Rows> rows = connection.QueryByKey(kListEvidence, {job_id, most});
  if (!rows) return rows.error();
  std::vector<TraceEvidence> traces;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const auto json = ParseJson(rows->Text(i, 2), {.bytes = 64 * 1024, .values = 1'000});
    if (json) traces.push_back({rows->Int(i, 0), static_cast<int>(rows->Int(i, 1)), *json});
  }
  return traces;
}

Result<TraceRow> FindTrace(Connection& connection, std::int64_t job_id, std::int64_t window_id,
                           std::optional<std::int64_t> rank) {
  const Result<Rows> rows = connection.Query(kFindTrace, {job_id, window_id, rank});
  if (!rows) return rows.error();
  if (!rows->empty()) return ReadTrace(*rows, 0);
  const Result<std::string> source = FindWindowSource(connection, job_id, window_id);
  if (!source) return source.error();
  if (*source != "asked" && rank) {
    return NotFound(Format("window {} has no trace of rank {}", window_id, *rank));
  }
  if (*source == "operators") {
    return NotFound(Format("window {} has no trace, or none yet; its answers say why", window_id));
  }
  return NotFound(Format("window {} is of annotations: it has no trace", window_id));
}

Result<TraceRow> FindTraceBefore(Connection& connection, std::int64_t job_id,
                                 std::int64_t window_id, std::optional<std::int64_t> rank) {
  const Result<Rows> rows = connection.Query(kFindTraceBefore, {job_id, window_id, rank});
  if (!rows) return rows.error();
  if (!rows->empty()) return ReadTrace(*rows, 0);
  return NotFound(Format("no window before window {} has a trace{}", window_id,
                         rank ? Format(" of rank {}", *rank) : ""));
}

}  // namespace stepscope
