// GET /jobs/{name}/windows/{id}/search and .../trace.json.gz: the spans of a trace themselves.

#include <algorithm>

#include "core/base/text.h"
#include "server/api/http/answer.h"
#include "server/api/http/find_job.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/api/windows/trace_reads.h"
#include "server/front/gzip.h"
#include "server/store/postgres/cursor.h"
#include "server/trace/chrome_trace.h"
#include "server/trace/trace_json.h"
#include "server/trace/trace_parts.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLastNs = 9'000'000'000'000'000, kTracksAtOnce = 64;
constexpr std::size_t kMostPartsRead = 64;      // for one page: a rare name may be in none
constexpr std::size_t kMostExported = 250'000;  // spans: some 60 MB of JSON
constexpr int kPartsAtOnce = 16;
constexpr QueryParameter kExportQuery[] = {
    {"rank", QueryParameter::kInteger, 0, 1'048'575},
    {"tracks", QueryParameter::kTexts, 1, kTracksAtOnce},
    {"from_ns", QueryParameter::kInteger, 0, kLastNs},
    {"to_ns", QueryParameter::kInteger, 1, kLastNs},
};
constexpr std::string_view kTrueOrFalse[] = {"true", "false"};
constexpr QueryParameter kSearchQuery[] = {
    kExportQuery[0],
    kExportQuery[1],
    kExportQuery[2],
    kExportQuery[3],
    {"q", QueryParameter::kText, 1, 200},
    {"correlation", QueryParameter::kInteger, 1, 4'294'967'295},
    {"arguments", QueryParameter::kWord, 0, 0, kTrueOrFalse},
    kCursorParameter,
    {"limit", QueryParameter::kInteger, 1, 5'000},
};

struct SpanPosition {
  std::int64_t track = -1, number = -1, row = 0;  // the next row to read; -1: from the begin
};
struct SpanRequest {
  NamedTrace trace;
  std::vector<std::int64_t> tracks;
  std::int64_t from_ns = 0, to_ns = kLastNs;
  std::optional<std::set<std::uint32_t>> names;  // none: every name
  std::optional<std::int64_t> correlation = {};  // only a launch and its work
  std::size_t most = 500;
};
struct FoundSpans {
  std::vector<TraceSpan> spans;
  std::string next;
};

bool IsWanted(const SpanRequest& wanted, const TraceSpan& span) {
  if (span.start_ns >= wanted.to_ns || span.end_ns() < wanted.from_ns) return false;
  if (wanted.correlation && *wanted.correlation != span.correlation) return false;
  return !wanted.names || wanted.names->contains(span.name);
}

std::string CursorOf(const SpanPosition& position) {
  return EncodeCursor(Json::array({position.track, position.number, position.row}));
}

// Adds spans of one part; false when the page is full, and then its cursor is set.
Result<bool> AddSpans(const SpanRequest& wanted, const TracePartRow& part, std::int64_t first_row,
                      FoundSpans& found) {
  const auto spans = DecodeSpans(part.payload, static_cast<std::uint16_t>(part.track));
  if (!spans) return Internal(spans.error().message);
  for (auto row = static_cast<std::size_t>(first_row); row < spans->size(); ++row) {
    if (!IsWanted(wanted, (*spans)[row])) continue;
    if (found.spans.size() == wanted.most) {
      found.next = CursorOf({part.track, part.number, static_cast<std::int64_t>(row)});
      return false;
    }
    found.spans.push_back((*spans)[row]);
  }
  return true;
}

// Reads parts from a position on, a few at a time, until the page is full.
Result<FoundSpans> FindSpans(Connection& connection, const SpanRequest& wanted,
                             const SpanPosition& from, std::size_t most_parts) {
  FoundSpans found;
  SpanPosition at = from;
  TrackRange range{"spans", wanted.tracks, wanted.from_ns, wanted.to_ns};
  range.most = kPartsAtOnce;
  range.after_track = at.track, range.after_number = at.number - 1;
  for (std::size_t read = 0;;) {
    const auto parts = LoadTrackParts(connection, wanted.trace.row, wanted.trace.job_id, range);
    if (!parts) return parts.error();
    for (const TracePartRow& part : *parts) {
      const bool same = part.track == at.track && part.number == at.number;
      const Result<bool> more = AddSpans(wanted, part, same ? at.row : 0, found);
      if (!more) return more.error();
      if (!*more) return found;
      range.after_track = part.track, range.after_number = part.number;
    }
    read += parts->size();
    if (std::ssize(*parts) < kPartsAtOnce) return found;
    if (read >= most_parts) {
      found.next = CursorOf({range.after_track, range.after_number + 1, 0});
      return found;
    }
  }
}

Result<SpanRequest> ReadRequest(Connection& connection, const PathParameters& path,
                                const Query& query, const JobRow& job) {
  const Result<std::int64_t> id = ReadId(path, "window");
  if (!id) return id.error();
  Result<TraceRow> row = FindTrace(connection, job.job_id, *id, query.MaybeInt("rank"));
  if (!row) return row.error();
  SpanRequest wanted{.trace = {job.job_id, std::move(*row)}, .tracks = {}, .names = {}};
  const auto tracks = ReadTracks(wanted.trace, query.Texts("tracks"));
  if (!tracks) return tracks.error();
  wanted.tracks = *tracks;
  wanted.from_ns = query.Int("from_ns", 0);
  wanted.to_ns = query.Int("to_ns", kLastNs);
  return wanted;
}

Result<TraceDetails> DetailsOf(Connection& connection, const SpanRequest& wanted,
                               const std::vector<TraceSpan>& spans) {
  std::set<std::uint32_t> ids;
  for (const TraceSpan& span : spans) {
    if (span.detail != kNoDetail) ids.insert(span.detail);
  }
  return ReadDetails(connection, wanted.trace, ids);
}

// The names of spans, and those that their details need.
Result<TraceNames> NamesOf(Connection& connection, const SpanRequest& wanted,
                           const std::vector<TraceSpan>& spans, const TraceDetails& details) {
  std::set<std::uint32_t> ids;
  for (const TraceSpan& span : spans) ids.insert(span.name);
  for (const auto& [id, detail] : details) AddNamesOf(detail, ids);
  return ReadNames(connection, wanted.trace, ids);
}

OrderedJson SpanJson(const TraceSpan& span, const TraceNames& names, const TraceDetails* details) {
  const auto name = names.find(span.name);
  OrderedJson arguments;
  if (details != nullptr) {
    const auto detail = details->find(span.detail);
    arguments =
        detail == details->end() ? OrderedJson::object() : ArgumentsOf(detail->second, names);
  }
  return {{"track", span.track},
          {"kind", ToText(span.kind)},
          {"name", name == names.end() ? "" : name->second},
          {"start_ns", span.start_ns},
          {"duration_ns", span.duration_ns},
          {"correlation", span.correlation == 0 ? OrderedJson() : OrderedJson(span.correlation)},
          {"arguments", std::move(arguments)}};
}

Result<Reply> SearchSpans(const Api&, Connection& connection, const Request& request,
                          const PathParameters& path) {
  const Query query(request, kSearchQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  Result<SpanRequest> wanted = ReadRequest(connection, path, query, *job);
  if (!wanted) return wanted.error();
  wanted->most = static_cast<std::size_t>(query.Int("limit", 500));
  SpanPosition from;
  if (query.Has("cursor")) {
    const auto given = DecodeCursor(query.Text("cursor"), Json::array({0, 0, 0}));
    if (!given) return Query::Refuse(request, "cursor", given.error().message);
    from = {(*given)[0].get<std::int64_t>(), (*given)[1].get<std::int64_t>(),
            std::max<std::int64_t>(0, (*given)[2].get<std::int64_t>())};
  }
  if (query.Has("q")) {
    auto names = FindNames(connection, wanted->trace, query.Text("q"));
    if (!names) return names.error();
    wanted->names = std::move(*names);
  }
  wanted->correlation = query.MaybeInt("correlation");
  const bool none = wanted->names && wanted->names->empty();
  const auto found = none ? Result<FoundSpans>(FoundSpans{})
                          : FindSpans(connection, *wanted, from, kMostPartsRead);
  if (!found) return found.error();
  const bool whole = query.Text("arguments") == "true";
  const auto details =
      whole ? DetailsOf(connection, *wanted, found->spans) : Result<TraceDetails>(TraceDetails());
  if (!details) return details.error();
  const Result<TraceNames> names = NamesOf(connection, *wanted, found->spans, *details);
  if (!names) return names.error();
  OrderedJson items = OrderedJson::array();
  for (const TraceSpan& span : found->spans) {
    items.push_back(SpanJson(span, *names, whole ? &*details : nullptr));
  }
  return JobReply(*job, {{"items", std::move(items)}, {"next", NullIfEmpty(found->next)}});
}

Result<Reply> ExportTrace(const Api&, Connection& connection, const Request& request,
                          const PathParameters& path) {
  const Query query(request, kExportQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  Result<SpanRequest> wanted = ReadRequest(connection, path, query, *job);
  if (!wanted) return wanted.error();
  wanted->most = kMostExported;
  const auto found = FindSpans(connection, *wanted, {}, 10'000);
  if (!found) return found.error();
  if (!found->next.empty()) {
    return Query::Refuse(request, "to_ns",
                         Format("there are more than {} spans: name tracks, or a shorter time "
                                "with from_ns and to_ns",
                                kMostExported));
  }
  const Result<TraceDetails> details = DetailsOf(connection, *wanted, found->spans);
  if (!details) return details.error();
  const Result<TraceNames> names = NamesOf(connection, *wanted, found->spans, *details);
  if (!names) return names.error();
  const auto tracks = LoadParts(connection, job->job_id, wanted->trace.row.window_id,
                                wanted->trace.row.rank, "tracks");
  if (!tracks) return tracks.error();
  const auto text = tracks->empty() ? Result<std::string>("{}")
                                    : DecodeText(tracks->front().payload, tracks->front().size);
  if (!text) return Internal(text.error().message);
  const Json track_rows = Json::parse(*text, nullptr, false);
  const TraceRow& row = wanted->trace.row;
  auto packed =
      Gzip(ChromeTrace({found->spans, *names, *details, track_rows, row.summary, row.rank}));
  if (!packed) return Internal("the trace cannot be packed");
  Reply reply = JobReply(*job, std::move(*packed));
  reply.content_type = "application/gzip";
  reply.headers.emplace_back(
      "Content-Disposition",
      Format("attachment; filename=\"{}-window{}-rank{}.trace.json.gz\"", job->name,
             wanted->trace.row.window_id, wanted->trace.row.rank));
  return reply;
}

}  // namespace

std::vector<Route> SpanRoutes(const Api& api) {
  return {Bulk(ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/windows/{id}/search",
                           SearchSpans)),
          AtMost(2, "exports",
                 Bulk(ForDatabase(api, Right::kRead, "GET",
                                  "/api/v1/jobs/{name}/windows/{id}/trace.json.gz", ExportTrace)))};
}

}  // namespace stepscope
