#include "core/model/step.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr std::array<std::string_view, kPhaseCount> kPhases = {
    "data",      "transfer", "forward",    "loss",  "backward", "communication",
    "optimizer", "callback", "checkpoint", "other", "sync",     "device_to_host"};

constexpr std::array<std::string_view, kStepTimes - kPhaseCount> kOtherTimes = {
    "evaluation",     "gpu_idle",     "gpu_data",          "gpu_transfer",      "gpu_forward",
    "gpu_loss",       "gpu_backward", "gpu_communication", "gpu_optimizer",     "gpu_callback",
    "gpu_checkpoint", "gpu_other",    "gpu_sync",          "gpu_device_to_host"};

}  // namespace

std::string_view ToText(Phase phase) {
  return kPhases[static_cast<std::size_t>(phase)];
}

std::optional<Phase> ParsePhase(std::string_view text) {
  const auto found = std::ranges::find(kPhases, text);
  if (found == kPhases.end()) return std::nullopt;
  return static_cast<Phase>(found - kPhases.begin());
}

std::string_view StepTimeName(std::size_t index) {
  return index < kPhaseCount ? kPhases[index] : kOtherTimes[index - kPhaseCount];
}

std::optional<std::size_t> ParseStepTime(std::string_view name) {
  for (std::size_t i = 0; i < kStepTimes; ++i) {
    if (StepTimeName(i) == name) return i;
  }
  return std::nullopt;
}

std::optional<Duration> StepTime(const Step& step, std::size_t index) {
  if (index < kPhaseCount) return step.phases[index];
  if (index == kEvaluationTime) return step.evaluation;
  if (index == kGpuIdleTime || !step.gpu_idle) return step.gpu_idle;
  return step.gpu_phases[index - kFirstGpuTime];
}

Column StepTimeColumn(std::span<const Step> steps, std::size_t index) {
  Column column;
  column.values.reserve(steps.size());
  column.present.reserve(steps.size());
  for (const Step& step : steps) {
    const std::optional<Duration> time = StepTime(step, index);
    column.values.push_back(time.value_or(Duration::zero()).count());
    column.present.push_back(time.has_value() ? 1 : 0);
  }
  if (std::ranges::find(column.present, 0) == column.present.end()) column.present.clear();
  return column;
}

void SetStepTime(Step& step, std::size_t index, Duration time) {
  if (index < kPhaseCount) {
    step.phases[index] = time;
  } else if (index == kEvaluationTime) {
    step.evaluation = time;
  } else if (index == kGpuIdleTime) {
    step.gpu_idle = time;
  } else {
    step.gpu_phases[index - kFirstGpuTime] = time;
  }
}

}  // namespace stepscope
