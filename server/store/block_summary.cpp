#include "server/store/block_summary.h"

#include <algorithm>
#include <map>

#include "server/store/capped_sum.h"

namespace stepscope {
namespace {

void AddToPoints(const Step& step, std::vector<StepPoint>& points) {
  if (points.empty() || points.back().count == std::int64_t{kStepsPerPoint}) {
    points.push_back({.step = step.number, .start_us = ToMicros(step.start)});
  }
  StepPoint& point = points.back();
  ++point.count;
  point.wall_ns = CappedSum(point.wall_ns, step.wall.count());
  point.data_ns = CappedSum(point.data_ns, step.phase(Phase::kData).count());
}

}  // namespace

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
  for (const auto& [bin, count] : walls) summary.walls.push_back({bin, count});
  return summary;
}

}  // namespace stepscope
