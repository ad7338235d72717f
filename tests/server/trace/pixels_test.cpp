#include "server/trace/pixels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/trace/made_trace.h"

namespace stepscope {
namespace {

using ::testing::ElementsAre;

TraceSpan Span(std::int64_t start, std::int64_t duration, std::uint32_t name,
               SpanKind kind = SpanKind::kOperator) {
  return {.start_ns = start, .duration_ns = duration, .name = name, .kind = kind};
}

TEST(FlattenSpans, GivesEachInstantToTheInnermost) {
  const std::vector<TraceSpan> spans = {Span(0, 100, 1), Span(10, 20, 2), Span(15, 5, 3),
                                        Span(90, 40, 4), Span(200, 10, 5, SpanKind::kAnnotation)};
  const SpanKind op = SpanKind::kOperator;
  EXPECT_THAT(FlattenSpans(spans),
              ElementsAre(BusySegment{0, 10, 1, op}, BusySegment{10, 15, 2, op},
                          BusySegment{15, 20, 3, op}, BusySegment{20, 30, 2, op},
                          BusySegment{30, 90, 1, op}, BusySegment{90, 130, 4, op}));
}

TEST(FlattenSpans, DrawsSpansOfAnyCategory) {
  const std::vector<TraceSpan> spans = {Span(0, 10, 1, SpanKind::kOther)};
  EXPECT_THAT(FlattenSpans(spans), ElementsAre(BusySegment{0, 10, 1, SpanKind::kOther}));
}

TEST(CellsOf, HaveTheirBusyTimeAndWhatFillsThemMost) {
  const std::vector<BusySegment> segments = {{0, 5, 1, SpanKind::kKernel},
                                             {7, 12, 2, SpanKind::kCopy}};
  const auto cells = CellsOf(segments, 0, 20, 4);
  ASSERT_EQ(cells.size(), 4);
  EXPECT_EQ(cells[0].busy_ns, 5);
  EXPECT_EQ(cells[0].name, 1);
  EXPECT_EQ(cells[1].busy_ns, 3);
  EXPECT_EQ(cells[1].kind, SpanKind::kCopy);
  EXPECT_EQ(cells[2].busy_ns, 2);
  EXPECT_EQ(cells[3].busy_ns, 0);
}

// 40,000 kernels of any length with gaps of any length.
Trace Busy() {
  Trace trace;
  trace.tracks.resize(1);
  std::mt19937_64 random(7);
  std::int64_t at = 0;
  for (int i = 0; i < 40'000; ++i) {
    const auto duration = static_cast<std::int64_t>(500 + random() % 20'000);
    at += static_cast<std::int64_t>(random() % (i % 400 == 0 ? 300'000 : 3'000));
    trace.spans.push_back({.start_ns = at,
                           .duration_ns = duration,
                           .name = static_cast<std::uint32_t>(1 + random() % 9),
                           .kind = SpanKind::kKernel});
    at += duration;
  }
  trace.tracks[0].spans = trace.spans.size();
  return trace;
}

TEST(Levels, AreAsTrueAsTheSpansTheyAreMadeOf) {
  const Trace trace = Busy();
  const std::vector<TraceSpan> spans(trace.spans.begin(), trace.spans.end());
  const auto segments = FlattenSpans(spans);
  const LevelPlan plan = PlanLevels(trace);
  const auto parts = EncodeLevels(trace, plan);
  const std::int64_t length = spans.back().end_ns();
  constexpr std::size_t kWidth = 500;
  int used = 0;
  for (const double share : {1.0, 0.7, 0.3}) {
    const auto from = static_cast<std::int64_t>(double(length) * (1 - share) / 3);
    const auto to = from + static_cast<std::int64_t>(double(length) * share);
    const double pixel_ns = double(to - from) / kWidth;
    const int log2 = plan.ForPixel(pixel_ns);
    if (log2 < 0) continue;
    ++used;
    LevelCells level;
    for (const TracePart& part : parts) {
      if (part.part != LevelPart(log2)) continue;
      const auto cells = *DecodeLevel(part.payload);
      level.cells.insert(level.cells.end(), cells.begin(), cells.end());
    }
    const auto pixels = PixelsOfLevel(level, log2, from, to, kWidth);
    const auto exact = CellsOf(segments, from, to, kWidth);
    double worst = 0, sum = 0;
    for (std::size_t x = 0; x < kWidth; ++x) {
      const double off = std::abs(pixels[x].busy_ns - exact[x].busy_ns) / pixel_ns;
      worst = std::max(worst, off);
      sum += off;
    }
    EXPECT_LT(worst, 0.1) << share;  // where the edge of a cell cuts a pixel
    EXPECT_LT(sum / kWidth, 0.01) << share;
  }
  EXPECT_GT(used, 0);
}

TEST(Levels, AreWiderStepByStepAndNoneForShortTracks) {
  EXPECT_EQ(PlanLevels(Converted({{"cpu_op", "a", "1", "1", 0, 5}})).base_log2, -1);
  const LevelPlan plan{.base_log2 = 10, .count = 3};
  EXPECT_EQ(plan.ForPixel(4'095), -1);
  EXPECT_EQ(plan.ForPixel(4'096), 10);
  EXPECT_EQ(plan.ForPixel(16'384), 12);
  EXPECT_EQ(plan.ForPixel(1e12), 14);
}

TEST(EncodePixels, HasTheLayoutOfThePage) {
  const PixelTrack track{
      3, {{10, 7, SpanKind::kKernel}, {0, 0, SpanKind::kOther}, {1, 7, SpanKind::kKernel}}};
  const PixelName name{7, "gemm"};
  const std::string bytes = EncodePixels({&track, 1}, 3, 0, 30, {&name, 1});
  EXPECT_EQ(bytes.substr(0, 4), "SPX1");
  EXPECT_EQ(bytes[4], 3);   // width
  EXPECT_EQ(bytes[8], 1);   // tracks
  EXPECT_EQ(bytes[12], 1);  // names
  EXPECT_EQ(bytes[32], 3);  // the track
  EXPECT_EQ(bytes[36], 7);  // the name of its first pixel
  EXPECT_EQ(static_cast<unsigned char>(bytes[48]), 255);
  EXPECT_EQ(bytes[49], 0);
  EXPECT_EQ(static_cast<unsigned char>(bytes[50]), 26);
  EXPECT_EQ(bytes.size(), 32u + 4 + 12 + 8 + 12);
  EXPECT_EQ(bytes.substr(64), "gemm");
}

}  // namespace
}  // namespace stepscope
