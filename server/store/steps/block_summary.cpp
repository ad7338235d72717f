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

// Times of points are written in microseconds, numbers of steps as they are.
constexpr std::int64_t UnitOf(std::size_t sum) {
  return sum == kPointGpuSteps ? 1 : 1'000;
}

// Cuts points to whole microseconds: a byte or two less for each number in the row.
void CutToMicros(std::vector<StepPoint>& points) {
  for (StepPoint& point : points) {
    for (std::size_t i = 0; i < kPointSums; ++i) point.sums[i] -= point.sums[i] % UnitOf(i);
  }
}

}  // namespace

StepPoint ToPoint(const Step& step) {
  StepPoint point{step.number, ToMicros(step.start), 1, step.wall.count(), {}};
  std::ranges::transform(step.phases, point.sums.begin(), &Duration::count);
  if (!step.gpu_idle) return point;
  for (const Duration work : step.gpu_phases) {
    point.sums[kPointGpuWork] = CappedSum(point.sums[kPointGpuWork], work.count());
  }
  point.sums[kPointGpuIdle] = step.gpu_idle->count();
  point.sums[kPointGpuSteps] = 1;
  return point;
}

void StepPoint::Add(const StepPoint& next) {
  count += next.count;
  wall_ns = CappedSum(wall_ns, next.wall_ns);
  for (std::size_t i = 0; i < kPointSums; ++i) sums[i] = CappedSum(sums[i], next.sums[i]);
}

void StepTimeSums::Add(const Step& step) {
  for (std::size_t i = 0; i < kStepTimes; ++i) {
    ns[i] = CappedSum(ns[i], StepTime(step, i).value_or(Duration::zero()).count());
  }
  gpu_steps += step.gpu_idle ? 1 : 0;
}

void StepTimeSums::Add(const StepTimeSums& other) {
  for (std::size_t i = 0; i < kStepTimes; ++i) ns[i] = CappedSum(ns[i], other.ns[i]);
  gpu_steps = CappedSum(gpu_steps, other.gpu_steps);
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
    summary.times_ns.Add(step);
  }
  CutToMicros(summary.points);
  for (const auto& [bin, count] : walls) summary.walls.push_back({bin, count});
  return summary;
}

namespace {

// The bytes of a summary: varints, a number as its difference to where it is expected. A version,
// then points, extremes, phases and bins.

constexpr std::uint64_t kVersion = 3;
constexpr std::uint64_t kVersionOfPhases = 2;  // it summed up the first ten phases only
constexpr std::size_t kPhasesBefore = 10;
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

// A bit for each sum that is not zero.
std::uint64_t SumsIn(std::span<const std::int64_t> sums) {
  std::uint64_t present = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] != 0) present |= std::uint64_t{1} << i;
  }
  return present;
}

std::uint64_t SumsIn(const std::vector<StepPoint>& points) {
  std::uint64_t present = 0;
  for (const StepPoint& point : points) present |= SumsIn(point.sums);
  return present;
}

constexpr bool Has(std::uint64_t present, std::size_t sum) {
  return (present >> sum & 1) != 0;
}

// Every point has kStepsPerPoint steps, but the last.
void PutPoints(const std::vector<StepPoint>& points, std::string& bytes) {
  const std::uint64_t present = SumsIn(points);
  PutVarint(bytes, points.size());
  PutVarint(bytes, static_cast<std::uint64_t>(points.back().count));
  PutVarint(bytes, present);
  StepPoint expected;
  for (const StepPoint& point : points) {
    for (const auto field : kFields) PutVarint(bytes, Difference(point.*field, expected.*field));
    for (std::size_t i = 0; i < kPointSums; ++i) {
      if (!Has(present, i)) continue;
      const std::int64_t unit = UnitOf(i);
      PutVarint(bytes, Difference(point.sums[i] / unit, expected.sums[i] / unit));
    }
    expected = Expected(point);
  }
}

void TakeSums(ByteReader& reader, std::uint64_t present, const StepPoint& expected,
              StepPoint& point) {
  for (std::size_t i = 0; i < kPointSums; ++i) {
    if (!Has(present, i)) continue;
    const std::int64_t unit = UnitOf(i), units = TakeNear(reader, expected.sums[i] / unit);
    if (units < 0 || units > INT64_MAX / unit) return reader.Fail();
    point.sums[i] = units * unit;
  }
}

void PutTimes(const StepTimeSums& times, std::string& bytes) {
  const std::uint64_t present = SumsIn(times.ns);
  PutVarint(bytes, present);
  for (std::size_t i = 0; i < kStepTimes; ++i) {
    if (Has(present, i)) PutVarint(bytes, static_cast<std::uint64_t>(times.ns[i]));
  }
  PutVarint(bytes, static_cast<std::uint64_t>(times.gpu_steps));
}

void TakeTimes(ByteReader& reader, StepTimeSums& times) {
  const std::uint64_t present = reader.TakeVarint();
  if (std::bit_width(present) > static_cast<int>(kStepTimes)) return reader.Fail();
  const auto take = [&](std::int64_t& number) {
    number = static_cast<std::int64_t>(reader.TakeVarint());
    if (number < 0) reader.Fail();
  };
  for (std::size_t i = 0; i < kStepTimes; ++i) {
    if (Has(present, i)) take(times.ns[i]);
  }
  take(times.gpu_steps);
}

void TakePhases(ByteReader& reader, StepTimeSums& times) {
  for (std::size_t i = 0; i < kPhasesBefore; ++i) {
    times.ns[i] = TakeNear(reader, 0);
    if (times.ns[i] < 0) reader.Fail();
  }
}

void TakePoints(ByteReader& reader, std::vector<StepPoint>& points) {
  const std::uint64_t count = reader.TakeVarint(), in_last = reader.TakeVarint();
  const std::uint64_t present = reader.TakeVarint();
  if (count == 0 || count > kMostPoints || in_last == 0 || in_last > kStepsPerPoint ||
      std::bit_width(present) > static_cast<int>(kPointSums)) {
    return reader.Fail();
  }
  points.reserve(count);
  StepPoint expected;
  for (std::uint64_t i = 0; i < count; ++i) {
    StepPoint point{.count = static_cast<std::int64_t>(i + 1 < count ? kStepsPerPoint : in_last)};
    for (const auto field : kFields) point.*field = TakeNear(reader, expected.*field);
    TakeSums(reader, present, expected, point);
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
  PutTimes(summary.times_ns, bytes);
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
  const std::uint64_t version = reader.TakeVarint();
  if (version != kVersion && version != kVersionOfPhases) {
    return Invalid("summary of steps: of another version");
  }
  TakePoints(reader, summary.points);
  if (reader.ok()) summary.last_step = TakeNear(reader, summary.points.back().step);
  summary.min_wall_ns = TakeNear(reader, 0);
  summary.max_wall_ns = TakeNear(reader, summary.min_wall_ns);
  version == kVersion ? TakeTimes(reader, summary.times_ns) : TakePhases(reader, summary.times_ns);
  if (reader.ok()) TakeWalls(reader, CountSteps(summary), summary.walls);
  if (!reader.ok() || reader.left() != 0 || !FitExtremes(summary)) {
    return Invalid("summary of steps: damaged");
  }
  return summary;
}

}  // namespace stepscope
