// Windows of traces come and go.

#include <algorithm>

#include "core/base/text.h"
#include "server/store/jobs/job_lock.h"
#include "server/store/postgres/arrays.h"
#include "server/store/postgres/cursor.h"
#include "server/store/traces/same_capture.h"
#include "server/store/traces/traces.h"
#include "server/store/traces/window_source.h"

namespace stepscope {
namespace {

constexpr std::int64_t kSameWindowUs = 600'000'000;  // ranks send their traces within this
constexpr std::size_t kBytesAtOnce = 4 * 1024 * 1024, kPartsAtOnce = 500;

constexpr char kFindDigest[] = R"(
select window_id, rank, exists (
        select
        from trace_parts
        where trace_parts.job_id = $1 and trace_parts.window_id = traces.window_id
            and trace_parts.rank = traces.rank)
from traces
where job_id = $1 and digest = $2
order by window_id
limit 1)";
constexpr char kForgetTrace[] =
    "delete from traces where job_id = $1 and window_id = $2 and rank = $3 returning spans";
constexpr char kInsertTraceWindow[] = R"(
insert into windows (job_id, window_id, start_step, num_steps, asked_us, until_us, source, asked_by)
values ($1, $2, $3, $4, $5, $5, 'trace', $6))";
// A window of other ranks that recorded the same steps.
constexpr char kFindSameSteps[] = R"(
select window_id
from windows
where job_id = $1 and source = 'trace' and asked_by = $2 and start_step = $3 and asked_us > $4
    and not exists (
        select
        from traces
        where traces.job_id = $1 and traces.window_id = windows.window_id and rank = $5)
order by window_id desc
limit 1)";
constexpr char kCountTraceSpans[] = R"(
update windows
set spans = spans + $3
where job_id = $1 and window_id = $2)";
constexpr char kInsertTrace[] = R"(
insert into traces (job_id, window_id, rank, file, digest, received_us, from_us, to_us, spans,
    summary)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10))";
constexpr char kInsertParts[] = R"(
insert into trace_parts (job_id, window_id, rank, part, track, number, from_ns, to_ns, size,
    kept_us, payload)
select $1, $2, $3, part, track, number, from_ns, to_ns, size, $4, payload
from unnest($5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[],
    $11::bytea[])
    as given (part, track, number, from_ns, to_ns, size, payload))";
constexpr char kDeleteWindow[] = "delete from windows where job_id = $1 and window_id = $2";
constexpr char kDeleteAnswers[] = "delete from window_answers where job_id = $1 and window_id = $2";
constexpr char kDeleteSpans[] = "delete from span_blocks where job_id = $1 and window_id = $2";
constexpr char kDeleteTraces[] = "delete from traces where job_id = $1 and window_id = $2";
constexpr char kDeleteParts[] = "delete from trace_parts where job_id = $1 and window_id = $2";

Status InsertParts(Connection& connection, std::int64_t job_id, std::int64_t window_id,
                   const TraceRow& trace, std::span<const NewTracePart> parts) {
  using Part = NewTracePart;
  while (!parts.empty()) {
    std::size_t count = 0;
    for (std::size_t bytes = 0;
         count < std::min(parts.size(), kPartsAtOnce) && bytes < kBytesAtOnce; ++count) {
      bytes += parts[count].payload.size();
    }
    const auto some = parts.first(count);
    parts = parts.subspan(count);
    const Status done = Done(connection.Query(
        kInsertParts, {job_id, window_id, trace.rank, std::max(trace.to_us, trace.received_us),
                       Texts(some, [](const Part& part) { return part.part; }),
                       Numbers(some, [](const Part& part) { return part.track; }),
                       Numbers(some, [](const Part& part) { return part.number; }),
                       Numbers(some, [](const Part& part) { return part.from_ns; }),
                       Numbers(some, [](const Part& part) { return part.to_ns; }),
                       Numbers(some, [](const Part& part) { return part.size; }),
                       Blobs(some, [](const Part& part) { return part.payload; })}));
    if (!done) return done;
  }
  return {};
}

Result<std::int64_t> MakeWindow(Connection& connection, std::int64_t job_id, const JobRow& job,
                                const TraceRow& trace, const TraceSteps& steps) {
  if (steps.asked_by != kAskedByPerson) {
    const Result<Rows> same = connection.Query(
        kFindSameSteps,
        {job_id, steps.asked_by, steps.first, trace.received_us - kSameWindowUs, trace.rank});
    if (!same) return same.error();
    if (!same->empty()) return same->Int(0, 0);
  } else if (steps.from_window) {
    const auto same = FindSameCapture(connection, job_id, *steps.from_window, trace, steps);
    if (!same) return same.error();
    if (*same) return **same;
  }
  const Result<std::int64_t> window_id = NextWindow(connection, job);
  if (!window_id) return window_id;
  const Status made =
      Done(connection.Query(kInsertTraceWindow, {job_id, *window_id, steps.first, steps.count,
                                                 trace.received_us, steps.asked_by}));
  if (!made) return made.error();
  return window_id;
}

// The window if it takes a trace of this rank.
Result<std::int64_t> CheckWindow(Connection& connection, std::int64_t job_id,
                                 std::int64_t window_id, int rank, const TraceSteps& steps) {
  const Result<std::string> source = FindWindowSource(connection, job_id, window_id);
  if (!source) return source.error();
  if (*source == "asked") {
    return NotFound(Format("there is no window {} of traces", window_id));
  }
  const Status takes = CheckRankAndSteps(connection, job_id, window_id, rank, steps);
  return takes ? Result(window_id) : takes.error();
}

// A trace of which retention has left nothing but its row.
Status Forget(Connection& connection, std::int64_t job_id, std::int64_t window_id, int rank) {
  const Result<Rows> gone = connection.Query(kForgetTrace, {job_id, window_id, rank});
  if (!gone) return gone.error();
  const std::int64_t spans = gone->empty() ? 0 : gone->Int(0, 0);
  return Done(connection.Query(kCountTraceSpans, {job_id, window_id, -spans}));
}

}  // namespace

Result<StoredTrace> StoreTrace(Connection& connection, std::int64_t job_id,
                               std::optional<std::int64_t> window_id, const TraceRow& trace,
                               const TraceSteps& steps, std::span<const NewTracePart> parts) {
  const Result<std::optional<JobRow>> job = LockJob(connection, job_id);
  if (!job) return job.error();
  if (!*job) return NotFound("the job is gone");
  const Result<Rows> known =
      connection.Query(kFindDigest, {job_id, Parameter::Bytes(trace.digest)});
  if (!known) return known.error();
  if (!known->empty()) {
    const std::int64_t there = known->Int(0, 0);
    const int rank = static_cast<int>(known->Int(0, 1));
    if (known->Bool(0, 2)) return StoredTrace{there, rank, false};
    const Status gone = Forget(connection, job_id, there, rank);
    if (!gone) return gone.error();
    window_id = there;
  }
  const Result<std::int64_t> window =
      window_id ? CheckWindow(connection, job_id, *window_id, trace.rank, steps)
                : MakeWindow(connection, job_id, **job, trace, steps);
  if (!window) return window.error();
  Status done = Done(connection.Query(
      kInsertTrace,
      {job_id, *window, trace.rank, trace.file, Parameter::Bytes(trace.digest), trace.received_us,
       trace.from_us, trace.to_us, trace.spans, Dump(trace.summary)}));
  if (done) done = InsertParts(connection, job_id, *window, trace, parts);
  if (done) done = Done(connection.Query(kCountTraceSpans, {job_id, *window, trace.spans}));
  if (!done) return done.error();
  return StoredTrace{*window, trace.rank, true};
}

// The lock lets nobody add a trace or an answer to a window that is on its way out.
Status DeleteWindow(Connection& connection, std::int64_t job_id, std::int64_t window_id) {
  const Result<std::optional<JobRow>> job = LockJob(connection, job_id);
  if (!job) return job.error();
  if (!*job) return NotFound("the job is gone");
  const Result<std::string> source = FindWindowSource(connection, job_id, window_id);
  if (!source) return source.error();
  for (const char* const statement :
       {kDeleteParts, kDeleteTraces, kDeleteSpans, kDeleteAnswers, kDeleteWindow}) {
    const Status done = Done(connection.Query(statement, {job_id, window_id}));
    if (!done) return done;
  }
  return {};
}

}  // namespace stepscope
