// POST /jobs/{name}/traces: a trace file becomes a window, or the trace of another rank in one.

#include "server/store/traces/traces.h"

#include <algorithm>
#include <charconv>

#include "core/base/text.h"
#include "core/trace/convert.h"
#include "core/trace/whole_steps.h"
#include "server/access/digest.h"
#include "server/api/http/answer.h"
#include "server/api/http/find_job.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/api/windows/judge_again.h"
#include "server/api/windows/window_json.h"
#include "server/edge/body_file.h"
#include "server/front/denial.h"
#include "server/store/access/audit.h"
#include "server/trace/answers/answers.h"
#include "server/trace/evidence.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostTraceBytes = std::size_t{2} << 30;  // as sent
constexpr int kMostAtOnce = 2;  // each takes a core and up to 400 MB while it is converted
constexpr Duration kConvertedWithin = 5min, kStoredWithin = 1min;
constexpr std::int64_t kMostRank = 1'048'575;
constexpr std::int64_t kMostCaptureSteps = 1'000'000, kMostCostUs = 4'294'967'295;

// Who may make a training record what the service did not ask for.
constexpr std::string_view kAskers[] = {"script", "start_profiling", "schedule"};

constexpr QueryParameter kTraceQuery[] = {
    {"window", QueryParameter::kInteger, 1, kMostWindows},
    {"from_window", QueryParameter::kInteger, 1, kMostWindows},
    {"rank", QueryParameter::kInteger, 0, kMostRank},
    {"file", QueryParameter::kText, 1, 255},
    // What an agent knows of a trace that it asked for.
    {"first_step", QueryParameter::kInteger, 0, kMostStep},
    {"steps", QueryParameter::kInteger, 0, kMostCaptureSteps},
    {"start_us", QueryParameter::kInteger, 0, kMostCostUs},
    {"stop_us", QueryParameter::kInteger, 0, kMostCostUs},
    {"save_us", QueryParameter::kInteger, 0, kMostCostUs},
    {"slower_us", QueryParameter::kInteger, 0, kMostCostUs},
    {"note", QueryParameter::kText, 1, 256},
    {"by", QueryParameter::kWord, 0, 0, kAskers},
};

// The number behind "rank" in the name of a file: trace_rank12.json, rank-3.pt.trace.json.
std::optional<std::int64_t> RankInName(std::string_view file) {
  const std::size_t found = file.rfind("rank");
  if (found == std::string_view::npos) return std::nullopt;
  std::string_view rest = file.substr(found + 4);
  while (!rest.empty() && (rest[0] == '_' || rest[0] == '-' || rest[0] == '.')) {
    rest.remove_prefix(1);
  }
  std::int64_t rank = 0;
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), rank);
  const bool valid = read.ec == std::errc() && rank >= 0 && rank <= kMostRank;
  return valid ? std::optional(rank) : std::nullopt;
}

struct FoundRank {
  std::int64_t rank = 0;
  const char* from = "assumed";
};
FoundRank RankOf(const Query& query, const Trace& trace) {
  if (const auto given = query.MaybeInt("rank")) return {*given, "given"};
  if (trace.rank >= 0 && trace.rank <= kMostRank) return {trace.rank, "trace"};
  if (const auto named = RankInName(query.Text("file"))) return {*named, "file"};
  return {};
}

// Why a file without spans has none.
std::string FaultsOf(const Trace& trace) {
  std::string text;
  for (const auto& [reason, count] : trace.faults) text += Format(", {} {}", reason, count);
  return text;
}

// What the training paid for the trace; null for one that was imported.
Json CaptureOf(const Query& query) {
  if (!query.MaybeInt("steps")) return {};
  const auto seconds = [&](const char* name) { return double(query.Int(name, 0)) / 1e6; };
  const bool known = query.MaybeInt("slower_us").has_value();
  return {{"first_step", query.Int("first_step", 0)},
          {"steps", query.Int("steps", 0)},
          {"start_seconds", seconds("start_us")},
          {"stop_seconds", seconds("stop_us")},
          {"save_seconds", seconds("save_us")},
          {"slower_seconds", known ? Json(seconds("slower_us")) : Json()},
          {"note", query.Text("note")}};
}

struct ConvertedTrace {
  TraceRow row;
  TraceSteps steps;
  std::vector<TracePart> parts;
};

// The trace in a body, and the digest of all its bytes, also of those that the converter left.
Trace ReadTraceIn(const Request& request, std::string& digest) {
  Sha256Sum sum;
  const ReadBytes read = [&sum, next = ReadBody(request)](std::span<char> into) {
    const std::size_t size = next(into);
    sum.Add({into.data(), size});
    return size;
  };
  Trace trace = ConvertTrace(read);
  std::vector<char> rest(256 * 1024);
  while (read(rest) > 0) continue;
  digest = sum.Digest();
  return trace;
}

// Times of a trace with a clock of its own are said to be when it arrived, so that retention and
// lists have an order.
void SetTimes(const Trace& trace, std::int64_t now_us, TraceRow& row) {
  std::int64_t length_ns = 0;
  for (const TraceSpan& span : trace.spans) length_ns = std::max(length_ns, span.end_ns());
  const std::int64_t length_us = length_ns / 1'000;
  row.from_us = trace.has_base ? trace.base_ns / 1'000 : now_us - length_us;
  row.to_us = row.from_us + length_us;
}

// Invalid when there are no spans.
Result<ConvertedTrace> Convert(const Query& query, const Request& request, std::int64_t now_us) {
  ConvertedTrace converted;
  Trace trace = ReadTraceIn(request, converted.row.digest);
  if (const auto steps = query.MaybeInt("steps")) {
    KeepWholeSteps(query.Int("first_step", 0), *steps, trace);
  }
  if (trace.spans.empty()) {
    return Invalid(
        Format("the body has no spans of a trace ({} events{})", trace.events, FaultsOf(trace)));
  }
  const FoundRank rank = RankOf(query, trace);
  converted.row.rank = static_cast<int>(rank.rank);
  converted.row.file = query.Text("file");
  converted.row.received_us = now_us;
  converted.row.spans = static_cast<std::int64_t>(trace.spans.size());
  SetTimes(trace, now_us, converted.row);
  OrderedJson summary = SummaryOf(trace);
  summary["rank_from"] = rank.from;
  summary["capture"] = CaptureOf(query);
  summary["evidence"] = EvidenceOf(TraceLinks(trace));
  converted.row.summary = Json(summary);
  if (!trace.steps.empty()) {
    converted.steps = {trace.steps.front().number, static_cast<std::int64_t>(trace.steps.size())};
  }
  if (const std::string by = query.Text("by"); !by.empty()) {
    converted.steps = {query.Int("first_step", 0), query.Int("steps", 0), by};
  }
  converted.steps.numbered = trace.step_markers == StepMarkers::kProfiler;
  converted.steps.on_our_clock = trace.has_base;
  converted.steps.from_window = query.MaybeInt("from_window");
  converted.parts = TakeApart(trace);
  return converted;
}

std::vector<NewTracePart> PartsOf(const ConvertedTrace& converted) {
  std::vector<NewTracePart> parts;
  for (const TracePart& part : converted.parts) {
    parts.push_back(
        {part.part, part.payload, part.track, part.number, part.from_ns, part.to_ns, part.size});
  }
  return parts;
}

// Tells the window with this trace alone: a window may have thousands.
Result<Reply> AnswerStored(const Api& api, Connection& connection, const JobRow& job,
                           const StoredTrace& stored) {
  const Result<WindowRow> window = FindWindow(connection, job.job_id, stored.window_id);
  if (!window) return window.error();
  Result<TraceRow> trace = FindTrace(connection, job.job_id, stored.window_id, stored.rank);
  if (!trace) return trace.error();
  auto counts = CountTraces(connection, job.job_id, {stored.window_id, stored.window_id});
  if (!counts) return counts.error();
  const std::vector<NodeRow> none;
  const WindowTeller tell{
      job, none, ToMicros(api.clock.Now()), {std::move(*trace)}, std::move(*counts)};
  Reply reply = JsonReply(tell(*window), stored.fresh ? 201 : 200);
  reply.headers.emplace_back("Location",
                             Format("/api/v1/jobs/{}/windows/{}", job.name, stored.window_id));
  return reply;
}

// Bytes that the job has are not what was asked for where they are of another window or rank.
Status CheckPlace(const Query& query, const StoredTrace& stored) {
  if (stored.fresh) return {};
  const bool same = query.Int("window", stored.window_id) == stored.window_id &&
                    query.Int("rank", stored.rank) == stored.rank;
  if (same) return {};
  return Conflict(
      Format("these bytes are rank {} of window {} already", stored.rank, stored.window_id));
}

Result<Reply> Store(const Api& api, Connection& connection, const Request& request,
                    const PathParameters& path, const Query& query,
                    const ConvertedTrace& converted) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const auto parts = PartsOf(converted);
  const Result<StoredTrace> stored = StoreTrace(connection, job->job_id, query.MaybeInt("window"),
                                                converted.row, converted.steps, parts);
  if (!stored) return stored.error();
  if (const Status same = CheckPlace(query, *stored); !same) return same.error();
  const Status noted = InsertAudit(
      connection, {0, ToMicros(api.clock.Now()), request.caller->token_id, request.caller->name,
                   "trace.import", job->name, request.request_id, request.peer});
  if (!noted) return noted.error();
  if (const Status committed = transaction->Commit(); !committed) return committed.error();
  // Also for bytes that were known: whoever sent them may not have come this far.
  if (const Status judged = JudgeAgain(connection, *job); !judged) return judged.error();
  return AnswerStored(api, connection, *job, *stored);
}

// The database is asked first whether there is such a job, and whose it is, and lends nothing while
// a file is read.
Result<Reply> Import(const Api& api, const Request& request, const PathParameters& path) {
  const Query query(request, kTraceQuery);
  if (!query.faults().empty()) return query.Refusal(request);
  {
    Result<Database::Lease> lease = api.database.Acquire();
    if (!lease) return lease.error();
    const Result<JobRow> job = FindNamedJob(**lease, path);
    if (!job) return job.error();
    const SendCheck refused =
        api.senders.CheckImport(**lease, *request.caller, *job, BodySize(request));
    if (!refused) return refused.error();
    if (*refused) return ToReply(**refused, request);
  }
  const auto converted = Convert(query, request, ToMicros(api.clock.Now()));
  if (!converted) return converted.error();
  Result<Database::Lease> lease = api.database.Acquire(3s, kStoredWithin);
  if (!lease) return lease.error();
  return Store(api, **lease, request, path, query, *converted);
}

}  // namespace

std::vector<Route> TraceRoutes(const Api& api) {
  return {AtMost(kMostAtOnce, "traces",
                 {.method = "POST",
                  .pattern = "/api/v1/jobs/{name}/traces",
                  .handler =
                      [&api](const Request& request, const PathParameters& path) {
                        Result<Reply> reply = Import(api, request, path);
                        return reply ? std::move(*reply) : ToReply(reply.error(), request);
                      },
                  .answer_within = kConvertedWithin,
                  .body_type = kBytesType,
                  .most_body = kMostTraceBytes,
                  .body_to_file = true,
                  .right = Right::kSend,
                  .traffic = Traffic::kChanges})};
}

}  // namespace stepscope
