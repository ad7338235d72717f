// GET /jobs/{name}/windows/{id}/compare and .../ranks: several traces side by side.

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "server/api/http/answer.h"
#include "server/api/http/find_job.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/api/windows/trace_reads.h"
#include "server/store/jobs/windows.h"
#include "server/trace/compare/aligned_ranks.h"
#include "server/trace/compare/compare_windows.h"
#include "server/trace/compare/without_waiting.h"
#include "server/trace/trace_parts.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostRanks = 64;  // laid side by side, the lowest ones
// Collectives of all these ranks, of which each has an equal part: what they take of memory while
// they are laid side by side, some 75 MB, is bounded by that and by how many calls do it at once.
constexpr std::size_t kMostSideBySide = 131'072;
constexpr int kMostAlignedAtOnce = 2;
constexpr QueryParameter kMostRows = {"limit", QueryParameter::kInteger, 1, 2'000};
constexpr QueryParameter kCompareQuery[] = {
    {"rank", QueryParameter::kInteger, 0, 1'048'575},
    {"with", QueryParameter::kInteger, 1, kMostWindows},
    {"with_rank", QueryParameter::kInteger, 0, 1'048'575},
    kMostRows,
};
constexpr QueryParameter kRanksQuery[] = {kMostRows};

// The text of an answer that was stored of a trace.
Result<std::string> ReadText(Connection& connection, std::int64_t job_id, const TraceRow& trace,
                             std::string_view part, std::size_t most_bytes = SIZE_MAX) {
  const auto parts = LoadParts(connection, job_id, trace.window_id, trace.rank, part);
  if (!parts) return parts.error();
  if (parts->empty()) {
    return NotFound(
        Format("what this needs of window {} is not there: it is too old, or was stored by an "
               "older version",
               trace.window_id));
  }
  if (std::cmp_greater(parts->front().size, most_bytes)) {
    return NotFound(
        Format("what this needs of rank {} is too large: its names are too long", trace.rank));
  }
  const auto text = DecodeText(parts->front().payload, parts->front().size);
  return text ? text : Result<std::string>(Internal(text.error().message));
}

// The first `most` collectives of a trace.
Result<std::vector<CollectiveEvent>> LoadCollectives(Connection& connection, std::int64_t job_id,
                                                     const TraceRow& trace, std::size_t most,
                                                     CollectiveNames& names) {
  const Result<std::string> text =
      ReadText(connection, job_id, trace, "collective_events", kMostCollectiveText);
  if (!text) return text.error();
  auto events = ReadCollectiveEvents(*text, most, names);
  return events ? events : Internal(events.error().message);
}

Result<StepTable> LoadStepTable(Connection& connection, std::int64_t job_id,
                                const TraceRow& trace) {
  const Result<std::string> text = ReadText(connection, job_id, trace, "step_table");
  if (!text) return text.error();
  Result<StepTable> table = ReadStepTable(*text);
  if (!table) return Internal(table.error().message);
  if (!table->walls.empty()) return table;
  return NotFound(
      Format("window {} has no steps: windows are compared step by step", trace.window_id));
}

OrderedJson SideJson(const TraceRow& trace, const StepTable& table) {
  return {{"window", std::to_string(trace.window_id)},
          {"rank", trace.rank},
          {"steps", table.walls.size()}};
}

// The windows that a query names, in the order in which they are compared.
Result<std::pair<TraceRow, TraceRow>> FindPair(Connection& connection, std::int64_t job_id,
                                               std::int64_t id, const Query& query) {
  const auto rank = query.MaybeInt("rank"), with_rank = query.MaybeInt("with_rank");
  const auto other_rank = with_rank ? with_rank : rank;
  const auto named = FindTrace(connection, job_id, id, rank);
  if (!named) return named.error();
  const auto with = query.MaybeInt("with");
  const auto other = with ? FindTrace(connection, job_id, *with, other_rank)
                          : FindTraceBefore(connection, job_id, id, other_rank);
  if (!other) return other.error();
  return with ? std::pair(*named, *other) : std::pair(*other, *named);
}

Result<Reply> ReadComparison(const Api&, Connection& connection, const Request& request,
                             const PathParameters& path) {
  const Query query(request, kCompareQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Result<std::int64_t> id = ReadId(path, "window");
  if (!id) return id.error();
  const auto pair = FindPair(connection, job->job_id, *id, query);
  if (!pair) return pair.error();
  const auto& [before, after] = *pair;
  const auto one = LoadStepTable(connection, job->job_id, before);
  if (!one) return one.error();
  const auto other = LoadStepTable(connection, job->job_id, after);
  if (!other) return other.error();

  OrderedJson json = {{"before", SideJson(before, *one)}, {"after", SideJson(after, *other)}};
  const auto most = static_cast<std::size_t>(query.Int("limit", 200));
  const OrderedJson compared = ToJson(CompareWindows(*one, *other), most);
  for (const auto& [key, value] : compared.items()) json[key] = value;
  return JobReply(*job, json);
}

Result<Reply> ReadRanks(const Api&, Connection& connection, const Request& request,
                        const PathParameters& path) {
  const Query query(request, kRanksQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Result<std::int64_t> id = ReadId(path, "window");
  if (!id) return id.error();
  const auto found = FindTrace(connection, job->job_id, *id, std::nullopt);
  if (!found) return found.error();
  const auto counts = CountTraces(connection, job->job_id, {*id, *id});
  if (!counts) return counts.error();
  const auto traces = ListTraces(connection, job->job_id, {*id, *id}, kMostRanks);
  if (!traces) return traces.error();
  CollectiveNames names;
  std::vector<RankEvents> ranks;
  for (const TraceRow& trace : *traces) {
    auto events =
        LoadCollectives(connection, job->job_id, trace, kMostSideBySide / traces->size(), names);
    if (!events) return events.error();
    ranks.push_back({trace.rank, std::move(*events)});
  }
  const auto count = counts->find(*id);
  OrderedJson json = {{"window", std::to_string(*id)},
                      {"traces", count == counts->end() ? 0 : count->second}};
  const auto most = static_cast<std::size_t>(query.Int("limit", 200));
  const AlignedRanks aligned = AlignRanks(ranks);
  const OrderedJson told = ToJson(aligned, most);
  for (const auto& [key, value] : told.items()) json[key] = value;
  json["without_waiting"] = ToJson(MakeWithoutWaiting(aligned));
  return JobReply(*job, json);
}

}  // namespace

std::vector<Route> ComparisonRoutes(const Api& api) {
  return {ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/windows/{id}/compare",
                      ReadComparison),
          AtMost(kMostAlignedAtOnce, "comparisons of ranks",
                 ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/windows/{id}/ranks",
                             ReadRanks))};
}

}  // namespace stepscope
