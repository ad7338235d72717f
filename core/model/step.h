#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/time.h"
#include "core/model/table.h"

namespace stepscope {

enum class Phase {
  kData,
  kTransfer,
  kForward,
  kLoss,
  kBackward,
  kCommunication,
  kOptimizer,
  kCallback,
  kCheckpoint,
  kOther,
  kSync,          // the host waits for the GPU
  kDeviceToHost,  // a copy from the GPU, with the wait for what it copies
};
inline constexpr std::size_t kPhaseCount = 12;

std::string_view ToText(Phase phase);
std::optional<Phase> ParsePhase(std::string_view text);

// One optimizer step of one rank. The phases need not add up to `wall`: time outside of every phase
// is in none.
struct Step {
  std::int64_t number = 0;
  Time start{};
  Duration wall{};  // without `evaluation`
  std::array<Duration, kPhaseCount> phases{};
  Duration evaluation{};  // evaluations that interrupted the step

  // By the GPU's clock: how long the work of each phase ran, and how long the GPU had nothing to do
  // between its last work of the step before and its first of this one. No `gpu_idle`: the GPU's
  // clock is not known for this step.
  std::array<Duration, kPhaseCount> gpu_phases{};
  std::optional<Duration> gpu_idle{};

  Duration phase(Phase which) const { return phases[static_cast<std::size_t>(which)]; }
  Duration gpu_phase(Phase which) const { return gpu_phases[static_cast<std::size_t>(which)]; }
};

// The durations of a step beside `wall`, by index: the phases, "evaluation", "gpu_idle", and
// "gpu_data" and so on. Tables of steps have a column for each that occurs, in nanoseconds.
inline constexpr std::size_t kStepTimes = 2 * kPhaseCount + 2;
inline constexpr std::size_t kEvaluationTime = kPhaseCount, kGpuIdleTime = kPhaseCount + 1,
                             kFirstGpuTime = kPhaseCount + 2;

std::string_view StepTimeName(std::size_t index);
std::optional<std::size_t> ParseStepTime(std::string_view name);
// nullopt for a time by the GPU's clock where that is not known.
std::optional<Duration> StepTime(const Step& step, std::size_t index);
void SetStepTime(Step& step, std::size_t index, Duration time);

// That time of all steps, as the column of a table.
Column StepTimeColumn(std::span<const Step> steps, std::size_t index);

}  // namespace stepscope
