// GET /jobs/{name}/windows/{id}/timeline/pixels: tracks as pixels, in binary.

#include "server/trace/pixels.h"

#include "server/api/http/answer.h"
#include "server/api/http/find_job.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/api/windows/trace_reads.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMostNs = 9'000'000'000'000'000, kMostTracks = 64, kMostWidth = 4'096;
constexpr QueryParameter kPixelQuery[] = {
    {"rank", QueryParameter::kInteger, 0, 1'048'575},
    {"tracks", QueryParameter::kTexts, 1, kMostTracks},
    {"from_ns", QueryParameter::kInteger, 0, kMostNs},
    {"to_ns", QueryParameter::kInteger, 1, kMostNs},
    {"width", QueryParameter::kInteger, 1, kMostWidth},
};

struct View {
  std::int64_t from_ns = 0, to_ns = 0;
  std::size_t width = 0;
};
using PixelsByTrack = std::map<std::int64_t, std::vector<BusyCell>>;

// From the levels; tracks without any are left out.
Status AddFromLevel(Connection& connection, const NamedTrace& trace, const View& view, int log2,
                    std::span<const std::int64_t> tracks, PixelsByTrack& pixels) {
  const std::string part = LevelPart(log2);
  const auto parts =
      LoadTrackParts(connection, trace.row, trace.job_id, {part, tracks, view.from_ns, view.to_ns});
  if (!parts) return parts.error();
  for (std::size_t i = 0; i < parts->size();) {
    const std::int64_t track = (*parts)[i].track;
    LevelCells level{(*parts)[i].from_ns, {}};
    for (; i < parts->size() && (*parts)[i].track == track; ++i) {
      const auto cells = DecodeLevel((*parts)[i].payload);
      if (!cells) return Internal(cells.error().message);
      level.cells.insert(level.cells.end(), cells->begin(), cells->end());
    }
    pixels[track] = PixelsOfLevel(level, log2, view.from_ns, view.to_ns, view.width);
  }
  return {};
}

Status AddFromSpans(Connection& connection, const NamedTrace& trace, const View& view,
                    std::span<const std::int64_t> tracks, PixelsByTrack& pixels) {
  const auto parts = LoadTrackParts(connection, trace.row, trace.job_id,
                                    {"spans", tracks, view.from_ns, view.to_ns});
  if (!parts) return parts.error();
  for (std::size_t i = 0; i < parts->size();) {
    const std::int64_t track = (*parts)[i].track;
    std::vector<TraceSpan> spans;
    for (; i < parts->size() && (*parts)[i].track == track; ++i) {
      const auto some = DecodeSpans((*parts)[i].payload, static_cast<std::uint16_t>(track));
      if (!some) return Internal(some.error().message);
      spans.insert(spans.end(), some->begin(), some->end());
    }
    pixels[track] = CellsOf(FlattenSpans(spans), view.from_ns, view.to_ns, view.width);
  }
  return {};
}

Result<PixelsByTrack> MakePixels(Connection& connection, const NamedTrace& trace, const View& view,
                                 const std::vector<std::int64_t>& tracks) {
  const Json& summary = trace.row.summary;
  const LevelPlan plan{summary.value("level_base", -1), summary.value("level_count", 0)};
  const int log2 = plan.ForPixel(double(view.to_ns - view.from_ns) / double(view.width));
  PixelsByTrack pixels;
  if (log2 >= 0) {
    const Status added = AddFromLevel(connection, trace, view, log2, tracks, pixels);
    if (!added) return added.error();
  }
  std::vector<std::int64_t> others;
  for (const std::int64_t track : tracks) {
    if (!pixels.contains(track)) others.push_back(track);
  }
  if (others.empty()) return pixels;
  const Status added = AddFromSpans(connection, trace, view, others, pixels);
  if (!added) return added.error();
  return pixels;
}

Result<std::string> Encode(Connection& connection, const NamedTrace& trace, const View& view,
                           const std::vector<std::int64_t>& tracks, PixelsByTrack pixels) {
  std::vector<PixelTrack> rows;
  std::set<std::uint32_t> wanted;
  for (const std::int64_t track : tracks) {
    PixelTrack row{static_cast<std::uint32_t>(track), std::move(pixels[track])};
    row.pixels.resize(view.width);
    for (const BusyCell& pixel : row.pixels) wanted.insert(pixel.name);
    rows.push_back(std::move(row));
  }
  const Result<TraceNames> names = ReadNames(connection, trace, wanted);
  if (!names) return names.error();
  std::vector<PixelName> list;
  for (const auto& [id, name] : *names) list.push_back({id, name});
  return EncodePixels(rows, view.width, view.from_ns, view.to_ns, list);
}

Result<Reply> ReadPixels(const Api&, Connection& connection, const Request& request,
                         const PathParameters& path) {
  const Query query(request, kPixelQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Result<std::int64_t> id = ReadId(path, "window");
  if (!id) return id.error();
  Result<TraceRow> row = FindTrace(connection, job->job_id, *id, query.MaybeInt("rank"));
  if (!row) return row.error();
  const NamedTrace trace{job->job_id, std::move(*row)};
  const std::int64_t length_ns = (trace.row.to_us - trace.row.from_us + 1) * 1'000;
  const View view{query.Int("from_ns", 0), query.Int("to_ns", length_ns),
                  static_cast<std::size_t>(query.Int("width", 1'000))};
  if (view.to_ns <= view.from_ns) {
    return Query::Refuse(request, "to_ns", "is not after from_ns");
  }
  const auto tracks = ReadTracks(trace, query.Texts("tracks"));
  if (!tracks) return Query::Refuse(request, "tracks", tracks.error().message);
  if (std::ssize(*tracks) > kMostTracks) {
    return Query::Refuse(request, "tracks", "the trace has many tracks: name at most 64");
  }
  Result<PixelsByTrack> pixels = MakePixels(connection, trace, view, *tracks);
  if (!pixels) return pixels.error();
  Result<std::string> bytes = Encode(connection, trace, view, *tracks, std::move(*pixels));
  if (!bytes) return bytes.error();
  Reply reply = JobReply(*job, std::move(*bytes));
  reply.content_type = "application/octet-stream";
  return reply;
}

}  // namespace

std::vector<Route> PixelRoutes(const Api& api) {
  return {ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/windows/{id}/timeline/pixels",
                      ReadPixels)};
}

}  // namespace stepscope
