// What pixels show of any view of any track, against the spans one by one.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "core/base/text.h"
#include "server/trace/pixels.h"

namespace stepscope {
namespace {

struct Track {
  Trace trace;
  std::vector<BusySegment> segments;
  LevelPlan plan;
  std::vector<TracePart> parts;
};

// Kernels of a length about `typical_ns`, with short gaps, and now and then a long one.
Track MadeTrack(std::mt19937_64& random, std::int64_t typical_ns) {
  Track track;
  track.trace.tracks.resize(1);
  const auto up_to = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
  };
  std::int64_t at = 0;
  for (int i = 0; i < 60'000; ++i) {
    at += up_to(typical_ns) + (up_to(100) == 0 ? up_to(400 * typical_ns) : 0);
    const std::int64_t duration = 1 + up_to(2 * typical_ns);
    track.trace.spans.push_back({.start_ns = at,
                                 .duration_ns = duration,
                                 .name = static_cast<std::uint32_t>(1 + up_to(9)),
                                 .kind = SpanKind::kKernel});
    at += duration;
  }
  track.trace.tracks[0].spans = track.trace.spans.size();
  track.segments =
      FlattenSpans(std::vector<TraceSpan>(track.trace.spans.begin(), track.trace.spans.end()));
  track.plan = PlanLevels(track.trace);
  track.parts = EncodeLevels(track.trace, track.plan);
  return track;
}

// As the service makes them: from the widest level that is fine enough, else from the spans.
std::vector<BusyCell> PixelsOf(const Track& track, std::int64_t from, std::int64_t to,
                               std::size_t width) {
  const int log2 = track.plan.ForPixel(double(to - from) / double(width));
  if (log2 < 0) return CellsOf(track.segments, from, to, width);
  LevelCells level{-1, {}};
  for (const TracePart& part : track.parts) {
    if (part.part != LevelPart(log2) || part.to_ns < from || part.from_ns > to) continue;
    if (level.first_ns < 0) level.first_ns = part.from_ns;
    const auto cells = *DecodeLevel(part.payload);
    level.cells.insert(level.cells.end(), cells.begin(), cells.end());
  }
  return PixelsOfLevel(level, log2, from, to, width);
}

// The busy bytes of the answer, which the page draws.
std::vector<std::uint8_t> BytesOf(const std::vector<BusyCell>& pixels, std::int64_t from,
                                  std::int64_t to) {
  const PixelTrack track{0, pixels};
  const std::string bytes = EncodePixels({&track, 1}, pixels.size(), from, to, {});
  const auto busy = bytes.begin() + 32 + 4 + std::ssize(pixels) * 4;
  return {busy, busy + std::ssize(pixels)};
}

double ExactShare(const Track& track, std::int64_t from, std::int64_t to) {
  std::int64_t busy = 0;
  for (const BusySegment& segment : track.segments) {
    busy +=
        std::max<std::int64_t>(0, std::min(segment.end_ns, to) - std::max(segment.begin_ns, from));
  }
  return double(busy) / double(to - from);
}

// Gaps of two pixels and more without a pixel that is at most a quarter full.
int HiddenGaps(const Track& track, std::int64_t from, std::int64_t to,
               const std::vector<std::uint8_t>& busy, int& gaps) {
  const double pixel_ns = double(to - from) / double(busy.size());
  int hidden = 0;
  for (std::size_t i = 0; i + 1 < track.segments.size(); ++i) {
    const std::int64_t begin = std::max(track.segments[i].end_ns, from);
    const std::int64_t end = std::min(track.segments[i + 1].begin_ns, to);
    if (double(end - begin) < 2 * pixel_ns) continue;
    ++gaps;
    bool seen = false;
    const auto first = static_cast<std::size_t>(double(begin - from) / pixel_ns);
    const auto last = static_cast<std::size_t>(double(end - from) / pixel_ns);
    for (std::size_t x = first; x <= std::min(last, busy.size() - 1); ++x) {
      seen = seen || busy[x] <= 64;
    }
    hidden += seen ? 0 : 1;
  }
  return hidden;
}

TEST(PixelsOfAnyView, HaveTheBusyShareOfTheSpansAndShowEveryGap) {
  std::mt19937_64 random(11);
  int views = 0, of_levels = 0, gaps = 0;
  double worst = 0;
  for (const std::int64_t typical : {300, 5'000, 90'000}) {
    const Track track = MadeTrack(random, typical);
    const std::int64_t length = track.segments.back().end_ns;
    for (int round = 0; round < 60; ++round) {
      const std::size_t width = 100 + random() % 900;
      const double share = std::pow(10.0, -4.0 * double(random() % 1'000) / 1'000);
      const auto view = static_cast<std::int64_t>(double(length) * share);
      const auto from = static_cast<std::int64_t>(random() % std::uint64_t(length - view + 1));
      const auto busy = BytesOf(PixelsOf(track, from, from + view, width), from, from + view);
      double sum = 0;
      for (const std::uint8_t byte : busy) sum += byte / 255.0;
      const double shown = sum / double(width), exact = ExactShare(track, from, from + view);
      worst = std::max(worst, std::abs(shown - exact));
      EXPECT_LT(std::abs(shown - exact), 0.001) << typical << " " << width << " " << share;
      EXPECT_EQ(HiddenGaps(track, from, from + view, busy, gaps), 0) << width << " " << share;
      ++views;
      of_levels += track.plan.ForPixel(double(view) / double(width)) >= 0 ? 1 : 0;
    }
  }
  EXPECT_GT(of_levels, views / 6);
  EXPECT_GT(gaps, 1'000);
  RecordProperty("worst_points", Format("{:.3f}", 100 * worst));
}

}  // namespace
}  // namespace stepscope
