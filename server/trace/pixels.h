#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/trace/trace.h"
#include "server/trace/trace_parts.h"

namespace stepscope {

// Pictures of tracks: for each pixel which share of it is busy, and what fills it most.
//
// A busy instant belongs to the innermost span around it. Annotations, Python frames and what the
// profiler does do not count: they would fill every gap.

// Busy time of one thing; segments of a track do not overlap.
struct BusySegment {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t name = 0;
  SpanKind kind = SpanKind::kOther;

  bool operator==(const BusySegment&) const = default;
};
bool IsDrawn(SpanKind kind);

// The spans of a track, in the order of a trace, without overlap.
std::vector<BusySegment> FlattenSpans(std::span<const TraceSpan> spans);

// A pixel, or a cell of a level.
struct BusyCell {
  double busy_ns = 0;      // a pixel of few nanoseconds has a part of one
  std::uint32_t name = 0;  // the name that fills it most
  SpanKind kind = SpanKind::kOther;
};

// Cells of equal width from `from_ns` to `to_ns`, exact to a nanosecond.
std::vector<BusyCell> CellsOf(std::span<const BusySegment> segments, std::int64_t from_ns,
                              std::int64_t to_ns, std::size_t count);

// Levels make wide views of long tracks quick: cells of a power of two nanoseconds, each level four
// times as wide as the one before. A view reads the widest level whose cells are at most a quarter
// of a pixel, and the spans themselves where no level is that fine.
struct LevelPlan {
  int base_log2 = -1;  // -1: the trace has no levels
  int count = 0;

  // The level for pixels of that width; -1: read the spans.
  int ForPixel(double pixel_ns) const;
};
LevelPlan PlanLevels(const Trace& trace);
inline constexpr std::uint64_t kLevelSpans = 4'096;  // a track with fewer has no levels

// Parts "level_<log2 of a cell>" of every track that has levels.
std::vector<TracePart> EncodeLevels(const Trace& trace, const LevelPlan& plan);
std::string LevelPart(int log2);

// Cells of a level from `first_ns` on.
struct LevelCells {
  std::int64_t first_ns = 0;
  std::vector<BusyCell> cells;
};
Result<std::vector<BusyCell>> DecodeLevel(std::string_view payload);
// Pixels of the cells, which lie side by side; cells that a pixel's edge cuts count by their part.
std::vector<BusyCell> PixelsOfLevel(const LevelCells& level, int log2, std::int64_t from_ns,
                                    std::int64_t to_ns, std::size_t width);

struct PixelTrack {
  std::uint32_t track = 0;
  std::vector<BusyCell> pixels;
};
struct PixelName {
  std::uint32_t id = 0;
  std::string name;
};
// The answer's bytes: docs/windows.md has the layout.
std::string EncodePixels(std::span<const PixelTrack> tracks, std::size_t width,
                         std::int64_t from_ns, std::int64_t to_ns,
                         std::span<const PixelName> names);

}  // namespace stepscope
