// Pixels of a trace that is larger than one that is taken: 20 million spans on 20 streams. For
// views of any width: the time to make them of the stored parts, with the time to make all parts of
// them beside, and how true they are. Without the database, which reads the parts in the service.
// Usage: trace_pixels [SPANS]

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "server/trace/pixels.h"

namespace stepscope {
namespace {

constexpr int kTracks = 20, kViews = 400;
constexpr std::size_t kWidth = 1'500;

using BenchClock = std::chrono::steady_clock;
double SecondsSince(BenchClock::time_point began) {
  return std::chrono::duration<double>(BenchClock::now() - began).count();
}

Trace Made(std::size_t spans) {
  Trace trace;
  trace.tracks.resize(kTracks);
  for (int i = 1; i < 200; ++i) trace.names.push_back("kernel_" + std::to_string(i));
  std::mt19937_64 random(1);
  for (std::uint16_t track = 0; track < kTracks; ++track) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < spans / kTracks; ++i) {
      at += static_cast<std::int64_t>(random() % (i % 500 == 0 ? 400'000 : 2'000));
      const auto duration = static_cast<std::int64_t>(500 + random() % 20'000);
      trace.spans.push_back({.start_ns = at,
                             .duration_ns = duration,
                             .name = static_cast<std::uint32_t>(1 + random() % 199),
                             .track = track,
                             .kind = SpanKind::kKernel});
      at += duration;
    }
    trace.tracks[track].spans = spans / kTracks;
  }
  return trace;
}

using PartsByName = std::map<std::string, std::vector<TracePart>>;

// What the service does with the parts that it has read.
std::vector<BusyCell> PixelsOf(const PartsByName& parts, int log2, std::uint16_t track,
                               std::int64_t from, std::int64_t to) {
  LevelCells level{-1, {}};
  std::vector<TraceSpan> spans;
  for (const TracePart& part : parts.at(log2 < 0 ? "spans" : LevelPart(log2))) {
    if (part.track != track || part.to_ns < from || part.from_ns > to) continue;
    if (log2 < 0) {
      const auto some = *DecodeSpans(part.payload, track);
      spans.insert(spans.end(), some.begin(), some.end());
      continue;
    }
    if (level.first_ns < 0) level.first_ns = part.from_ns;
    const auto cells = *DecodeLevel(part.payload);
    level.cells.insert(level.cells.end(), cells.begin(), cells.end());
  }
  if (log2 < 0) return CellsOf(FlattenSpans(spans), from, to, kWidth);
  return PixelsOfLevel(level, log2, from, to, kWidth);
}

// By how much the busy share of the view is off, in points, beside a scan of all its spans.
double PointsOff(const Trace& trace, std::uint16_t track, const std::vector<BusyCell>& pixels,
                 std::int64_t from, std::int64_t to, double& scan_s) {
  const auto began = BenchClock::now();
  const std::size_t each = trace.spans.size() / kTracks;
  std::int64_t busy = 0;
  double shown = 0;
  for (std::size_t i = track * each; i < (track + std::size_t{1}) * each; ++i) {
    const TraceSpan& span = trace.spans[i];
    busy += std::max<std::int64_t>(0, std::min(span.end_ns(), to) - std::max(span.start_ns, from));
  }
  scan_s = SecondsSince(began);
  for (const BusyCell& pixel : pixels) shown += pixel.busy_ns;
  return 100 * std::abs(shown - double(busy)) / double(to - from);
}

void Measure(std::size_t spans) {
  const Trace trace = Made(spans);
  auto began = BenchClock::now();
  const LevelPlan plan = PlanLevels(trace);
  PartsByName parts;
  std::size_t level_bytes = 0, span_bytes = 0;
  for (TracePart& part : EncodeLevels(trace, plan)) {
    level_bytes += part.payload.size();
    parts[part.part].push_back(std::move(part));
  }
  const double levels_s = SecondsSince(began);
  for (TracePart& part : EncodeParts(trace)) {
    if (part.part != "spans") continue;
    span_bytes += part.payload.size();
    parts[part.part].push_back(std::move(part));
  }
  std::int64_t length = 0;
  for (const TraceSpan& span : trace.spans) length = std::max(length, span.end_ns());
  std::mt19937_64 random(2);
  std::vector<double> times, scans;
  double off = 0;
  for (int view = 0; view < kViews; ++view) {
    const double share = std::pow(10.0, -5.0 * view / kViews);
    const auto wide = std::max<std::int64_t>(1, std::int64_t(double(length) * share));
    const auto from = static_cast<std::int64_t>(random() % std::uint64_t(length - wide + 1));
    const auto track = static_cast<std::uint16_t>(random() % kTracks);
    began = BenchClock::now();
    const int log2 = plan.ForPixel(double(wide) / kWidth);
    const auto pixels = PixelsOf(parts, log2, track, from, from + wide);
    times.push_back(SecondsSince(began));
    double scan_s = 0;
    off = std::max(off, PointsOff(trace, track, pixels, from, from + wide, scan_s));
    scans.push_back(scan_s);
  }
  std::ranges::sort(times);
  std::ranges::sort(scans);
  std::printf(
      "{\"spans\": %zu, \"tracks\": %d, \"width\": %zu, \"pixels_p50_ms\": %.3f, "
      "\"pixels_p95_ms\": %.3f, \"pixels_max_ms\": %.3f, \"scan_p50_ms\": %.3f, "
      "\"points_off\": %.4f, \"levels_seconds\": %.2f, \"level_bytes\": %zu, \"span_bytes\": "
      "%zu}\n",
      trace.spans.size(), kTracks, kWidth, 1e3 * times[kViews / 2], 1e3 * times[kViews * 95 / 100],
      1e3 * times.back(), 1e3 * scans[kViews / 2], off, levels_s, level_bytes, span_bytes);
}

}  // namespace
}  // namespace stepscope

int main(int count, char** words) {
  stepscope::Measure(count > 1 ? std::strtoul(words[1], nullptr, 10) : 20'000'000);
}
