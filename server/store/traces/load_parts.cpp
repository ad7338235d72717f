// Reading the parts that traces were taken apart into.

#include "server/store/postgres/arrays.h"
#include "server/store/traces/traces.h"

namespace stepscope {
namespace {

constexpr char kLoadParts[] = R"(
select track, number, from_ns, to_ns, size, payload
from trace_parts
where job_id = $1 and window_id = $2 and rank = $3 and part = $4
order by track, number
limit 10000)";
constexpr char kLoadTrackParts[] = R"(
select track, number, from_ns, to_ns, size, payload
from trace_parts
where job_id = $1 and window_id = $2 and rank = $3 and part = $4 and track = any($5::bigint[])
    and to_ns >= $6 and from_ns < $7 and (track, number) > ($8::bigint, $9::bigint)
order by track, number
limit $10)";
constexpr char kLoadNumbered[] = R"(
select track, number, from_ns, to_ns, size, payload
from trace_parts
where job_id = $1 and window_id = $2 and rank = $3 and part = $4 and track = 0
    and number = any($5::bigint[])
order by number
limit 10000)";

Result<std::vector<TracePartRow>> ReadParts(const Result<Rows>& rows) {
  if (!rows) return rows.error();
  std::vector<TracePartRow> parts;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    parts.push_back({rows->Int(i, 0), rows->Int(i, 1), rows->Int(i, 2), rows->Int(i, 3),
                     rows->Int(i, 4), rows->Bytes(i, 5)});
  }
  return parts;
}

}  // namespace

Result<std::vector<TracePartRow>> LoadParts(Connection& connection, std::int64_t job_id,
                                            std::int64_t window_id, int rank,
                                            std::string_view part) {
  return ReadParts(connection.Query(kLoadParts, {job_id, window_id, rank, part}));
}

Result<std::vector<TracePartRow>> LoadTrackParts(Connection& connection, const TraceRow& trace,
                                                 std::int64_t job_id, const TrackRange& range) {
  return ReadParts(connection.Query(
      kLoadTrackParts,
      {job_id, trace.window_id, trace.rank, range.part, Parameter::Array(range.tracks),
       range.from_ns, range.to_ns, range.after_track, range.after_number, range.most}));
}

Result<std::vector<TracePartRow>> LoadNumbered(Connection& connection, const TraceRow& trace,
                                               std::int64_t job_id, std::string_view part,
                                               std::span<const std::int64_t> numbers) {
  return ReadParts(connection.Query(
      kLoadNumbered, {job_id, trace.window_id, trace.rank, part, Parameter::Array(numbers)}));
}

}  // namespace stepscope
