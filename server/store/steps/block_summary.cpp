#include "server/store/steps/block_summary.h"

#include <algorithm>
#include <map>

#include "server/store/jobs/capped_sum.h"

namespace stepscope {
namespace {

void AddToPoints(const Step& step, std::vector<StepPoint>& points) {
  const bool full = points.empty() || points.back().count == std::int64_t{kStepsPerPoint};
  if (full) return points.push_back(ToPoint(step));
  points.back().Add(ToPoint(step));
}

// A byte or two less for each of them in the row.
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

}  // namespace stepscope
