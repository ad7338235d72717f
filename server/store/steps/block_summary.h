#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/step.h"
#include "server/store/steps/duration_bins.h"

namespace stepscope {

// What a point sums up beside wall times: the phases in ns, the GPU's work and idle time by its own
// clock in ns, and the number of steps for which these are known.
inline constexpr std::size_t kPointGpuWork = kPhaseCount, kPointGpuIdle = kPhaseCount + 1,
                             kPointGpuSteps = kPhaseCount + 2;
inline constexpr std::size_t kPointSums = kPhaseCount + 3;

// Adjacent steps as one point of a curve: number and start of the first, sums of all. In a summary,
// times are whole microseconds.
struct StepPoint {
  std::int64_t step = 0, start_us = 0, count = 0, wall_ns = 0;
  std::array<std::int64_t, kPointSums> sums{};

  void Add(const StepPoint& next);

  bool operator==(const StepPoint&) const = default;
};
StepPoint ToPoint(const Step& step);
inline constexpr std::size_t kStepsPerPoint = 64;

// Sums of the times of steps (StepTime), and the number of steps for which the GPU's clock is
// known.
struct StepTimeSums {
  std::array<std::int64_t, kStepTimes> ns{};
  std::int64_t gpu_steps = 0;

  void Add(const Step& step);
  void Add(const StepTimeSums& other);

  bool operator==(const StepTimeSums&) const = default;
};

// The summary that is stored with a block of steps, so that a job's steps can be summed up without
// reading them. It is exact but for the wall times, which are counted in bins, and the phases of
// the points. Sums that are too large are INT64_MAX.
struct BlockSummary {
  std::int64_t last_step = 0;  // the number; that of the first step is in the first point
  std::int64_t min_wall_ns = 0, max_wall_ns = 0;
  StepTimeSums times_ns;
  std::vector<DurationBin> walls;  // ascending, none empty
  std::vector<StepPoint> points;   // kStepsPerPoint steps each; the last has the remainder

  bool operator==(const BlockSummary&) const = default;
};
std::int64_t CountSteps(const BlockSummary& summary);

// Summarises the steps of one block, at least one, in the order of their start.
BlockSummary SummariseBlock(std::span<const Step> steps);

std::string EncodeSummary(const BlockSummary& summary);
// Invalid for bytes that EncodeSummary does not write, such as the summary of a newer service.
// Nothing is allocated before its size is checked.
Result<BlockSummary> DecodeSummary(std::string_view bytes);

}  // namespace stepscope
