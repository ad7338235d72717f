#include "server/store/steps/block_summary.h"

#include <algorithm>
#include <bit>
#include <map>

#include "core/wire/bytes.h"
#include "server/store/jobs/capped_sum.h"
#include "server/store/steps/step_blocks.h"

namespace stepscope {
namespace {

void AddToPoints(const Step& step, std::vector<StepPoint>& points) {
  const bool full = points.empty() || points.back().count == std::int64_t{kStepsPerPoint};
  if (full) return points.push_back(ToPoint(step));
  points.back().Add(ToPoint(step));
}

// Cuts points to whole microseconds: a byte or two less for each number in the row.
void CutToMicros(std::vector<StepPoint>& points) {
  for (StepPoint& point : points) {
    for (std::int64_t& ns : point.phases_ns) ns -= ns % 1'000;
  }
}

}  // namespace

StepPoint ToPoint(const Step& step) {
  StepPoint point{step.number, ToMicros(step.start), 1, step.wall.count(), {}};
  std::ranges::transform(step.phases, point.phases_ns.begin(), &Duration::count);
  return point;
}

void StepPoint::Add(const StepPoint& next) {
  count += next.count;
  wall_ns = CappedSum(wall_ns, next.wall_ns);
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
    phases_ns[phase] = CappedSum(phases_ns[phase], next.phases_ns[phase]);
  }
}

std::int64_t CountSteps(const BlockSummary& summary) {
  std::int64_t count = 0;
  for (const StepPoint& point : summary.points) count += point.count;
  return count;
}

BlockSummary SummariseBlock(std::span<const Step> steps) {
  const auto [least, greatest] = std::ranges::minmax(steps, {}, &Step::wall);
  BlockSummary summary;
  summary.last_step = steps.back().number;
  summary.min_wall_ns = least.wall.count();
  summary.max_wall_ns = greatest.wall.count();
  std::map<std::uint32_t, std::int64_t> walls;
  for (const Step& step : steps) {
    ++walls[DurationBinOf(step.wall.count())];
    AddToPoints(step, summary.points);
    for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
      summary.phases_ns[phase] = CappedSum(summary.phases_ns[phase], step.phases[phase].count());
    }
  }
  CutToMicros(summary.points);
  for (const auto& [bin, count] : walls) summary.walls.push_back({bin, count});
  return summary;
}

namespace {

// The bytes of a summary: varints, a number as its difference to where it is expected. A version,
// then points, extremes, phases and bins.

constexpr std::uint64_t kVersion = 2;  // 1 had no phases but data in its points
constexpr std::uint64_t kMostPoints = kStepsPerBlock / kStepsPerPoint;

// Wraps over the ends of int64, when writing as when reading.
std::uint64_t Difference(std::int64_t value, std::int64_t expected) {
  return ZigZag(static_cast<std::int64_t>(static_cast<std::uint64_t>(value) -
                                          static_cast<std::uint64_t>(expected)));
}
std::int64_t TakeNear(ByteReader& reader, std::int64_t expected) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(expected) +
                                   static_cast<std::uint64_t>(UnZigZag(reader.TakeVarint())));
}

// The point that is expected after another one.
StepPoint Expected(const StepPoint& before) {
  const auto sum = [](std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  };
  StepPoint point = before;
  point.step = sum(before.step, before.count);
  point.start_us = sum(before.start_us, before.wall_ns / 1'000);
  return point;
}

constexpr std::int64_t StepPoint::*kFields[] = {&StepPoint::step, &StepPoint::start_us,
                                                &StepPoint::wall_ns};

// A bit for each phase that occurs in any point.
std::uint64_t PhasesIn(const std::vector<StepPoint>& points) {
  std::uint64_t phases = 0;
  for (const StepPoint& point : points) {
    for (std::size_t i = 0; i < kPhaseCount; ++i) {
      if (point.phases_ns[i] != 0) phases |= std::uint64_t{1} << i;
    }
  }
  return phases;
}

constexpr bool Has(std::uint64_t phases, std::size_t phase) {
  return (phases >> phase & 1) != 0;
}

// Every point has kStepsPerPoint steps, but the last.
void PutPoints(const std::vector<StepPoint>& points, std::string& bytes) {
  const std::uint64_t phases = PhasesIn(points);
  PutVarint(bytes, points.size());
  PutVarint(bytes, static_cast<std::uint64_t>(points.back().count));
  PutVarint(bytes, phases);
  StepPoint expected;
  for (const StepPoint& point : points) {
    for (const auto field : kFields) PutVarint(bytes, Difference(point.*field, expected.*field));
    for (std::size_t i = 0; i < kPhaseCount; ++i) {
      if (!Has(phases, i)) continue;
      PutVarint(bytes, Difference(point.phases_ns[i] / 1'000, expected.phases_ns[i] / 1'000));
    }
    expected = Expected(point);
  }
}

void TakePhases(ByteReader& reader, std::uint64_t phases, const StepPoint& expected,
                StepPoint& point) {
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    if (!Has(phases, i)) continue;
    const std::int64_t us = TakeNear(reader, expected.phases_ns[i] / 1'000);
    if (us < 0 || us > INT64_MAX / 1'000) return reader.Fail();
    point.phases_ns[i] = us * 1'000;
  }
}

void TakePoints(ByteReader& reader, std::vector<StepPoint>& points) {
  const std::uint64_t count = reader.TakeVarint(), in_last = reader.TakeVarint();
  const std::uint64_t phases = reader.TakeVarint();
  if (count == 0 || count > kMostPoints || in_last == 0 || in_last > kStepsPerPoint ||
      std::bit_width(phases) > static_cast<int>(kPhaseCount)) {
    return reader.Fail();
  }
  points.reserve(count);
  StepPoint expected;
  for (std::uint64_t i = 0; i < count; ++i) {
    StepPoint point{.count = static_cast<std::int64_t>(i + 1 < count ? kStepsPerPoint : in_last)};
    for (const auto field : kFields) point.*field = TakeNear(reader, expected.*field);
    TakePhases(reader, phases, expected, point);
    if (point.wall_ns < 0 || !reader.ok()) return reader.Fail();
    points.push_back(point);
    expected = Expected(point);
  }
}

void TakeWalls(ByteReader& reader, std::int64_t steps, std::vector<DurationBin>& walls) {
  const std::uint64_t bins = reader.TakeVarint();
  if (bins > static_cast<std::uint64_t>(steps)) return reader.Fail();
  walls.reserve(bins);
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < bins; ++i) {
    const std::uint64_t skipped = reader.TakeVarint(), count = reader.TakeVarint();
    if (skipped >= kDurationBins - next || count == 0 ||
        count > static_cast<std::uint64_t>(steps)) {
      return reader.Fail();
    }
    next += skipped;
    walls.push_back({static_cast<std::uint32_t>(next++), static_cast<std::int64_t>(count)});
    steps -= walls.back().count;
  }
  if (steps != 0) reader.Fail();
}

bool FitExtremes(const BlockSummary& summary) {
  return summary.min_wall_ns >= 0 && summary.max_wall_ns >= summary.min_wall_ns &&
         DurationBinOf(summary.min_wall_ns) == summary.walls.front().bin &&
         DurationBinOf(summary.max_wall_ns) == summary.walls.back().bin;
}

}  // namespace

std::string EncodeSummary(const BlockSummary& summary) {
  std::string bytes;
  PutVarint(bytes, kVersion);
  PutPoints(summary.points, bytes);
  PutVarint(bytes, Difference(summary.last_step, summary.points.back().step));
  PutVarint(bytes, ZigZag(summary.min_wall_ns));
  PutVarint(bytes, Difference(summary.max_wall_ns, summary.min_wall_ns));
  for (const std::int64_t ns : summary.phases_ns) PutVarint(bytes, ZigZag(ns));
  PutVarint(bytes, summary.walls.size());
  std::uint32_t next = 0;
  for (const DurationBin& wall : summary.walls) {
    PutVarint(bytes, wall.bin - next);
    PutVarint(bytes, static_cast<std::uint64_t>(wall.count));
    next = wall.bin + 1;
  }
  return bytes;
}

Result<BlockSummary> DecodeSummary(std::string_view bytes) {
  ByteReader reader(bytes);
  BlockSummary summary;
  if (reader.TakeVarint() != kVersion) return Invalid("summary of steps: of another version");
  TakePoints(reader, summary.points);
  if (reader.ok()) summary.last_step = TakeNear(reader, summary.points.back().step);
  summary.min_wall_ns = TakeNear(reader, 0);
  summary.max_wall_ns = TakeNear(reader, summary.min_wall_ns);
  for (std::int64_t& ns : summary.phases_ns) {
    ns = TakeNear(reader, 0);
    if (ns < 0) reader.Fail();
  }
  if (reader.ok()) TakeWalls(reader, CountSteps(summary), summary.walls);
  if (!reader.ok() || reader.left() != 0 || !FitExtremes(summary)) {
    return Invalid("summary of steps: damaged");
  }
  return summary;
}

}  // namespace stepscope
