#include "rules/diagnosis/gpu_idle.h"

#include <algorithm>
#include <utility>

namespace stepscope {
namespace {

constexpr std::pair<Phase, Cause> kHostIsIn[] = {
    {Phase::kData, Cause::kRawInput},      {Phase::kCallback, Cause::kCallbacks},
    {Phase::kCheckpoint, Cause::kStorage}, {Phase::kSync, Cause::kSynchronisation},
    {Phase::kOther, Cause::kUnknown},      {Phase::kDeviceToHost, Cause::kFromDevice},
    {Phase::kTransfer, Cause::kToDevice},  {Phase::kCommunication, Cause::kCommunication},
};

double AtLeastNone(Duration duration) {
  return ToSeconds(std::max(duration, Duration::zero()));
}

// The host's time in a step by cause, but for the phases in which it launches work.
TimeByCause NotLaunching(const Step& step) {
  TimeByCause host;
  Duration named{};
  for (const Duration phase : step.phases) named += std::max(phase, Duration::zero());
  for (const auto& [phase, cause] : kHostIsIn) host[cause] += AtLeastNone(step.phase(phase));
  host[Cause::kCallbacks] += AtLeastNone(step.wall - named);
  return host;
}

}  // namespace

void GpuIdleSums::Add(const Step& step) {
  if (!step.gpu_idle) return;
  steps.Add(step);
  const double gone = std::min(AtLeastNone(*step.gpu_idle), AtLeastNone(step.wall));
  const TimeByCause host = NotLaunching(step);
  const double all = host.Total();
  if (all > 0) idle.Add(host.Scaled(std::min(1.0, gone / all)));
  idle[Cause::kFrameworkOverhead] += std::max(0.0, gone - all);
}

void GpuIdleSums::Add(const GpuIdleSums& other) {
  steps.Add(other.steps);
  idle.Add(other.idle);
}

}  // namespace stepscope
