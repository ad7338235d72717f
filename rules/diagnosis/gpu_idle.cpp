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

// The clock is believed that is known for so much of the step time, or for so many of the steps:
// those that are timed are taken at random.
constexpr double kMostKnown = 0.8, kLeastKnown = 1.0 / 64;
constexpr std::int64_t kLeastTimed = 16;
// What the host did in all steps is more of the same while it is at most so many times what the
// timed steps let expect; what is beyond that was in steps of another kind, such as the rare one
// with a checkpoint.
constexpr double kMostAlike = 1.25;

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

// The host's time in many steps by cause; what it launched in is kFrameworkOverhead.
TimeByCause HostTime(const StepSums& steps) {
  TimeByCause host;
  for (const auto& [phase, cause] : kHostIsIn) host[cause] += ToSeconds(steps.phase(phase));
  const double named = steps.NamedSeconds();
  host[Cause::kFrameworkOverhead] = std::max(0.0, named - host.Total());
  host[Cause::kCallbacks] += std::max(0.0, ToSeconds(steps.wall()) - named);
  return host;
}

}  // namespace

bool GpuIdleSums::IsEnoughFor(const StepSums& all) const {
  const double timed = ToSeconds(steps.wall());
  if (timed > 0 && timed >= kMostKnown * ToSeconds(all.wall())) return true;
  const auto part = static_cast<double>(steps.steps()) / static_cast<double>(all.steps());
  return steps.steps() >= kLeastTimed && part >= kLeastKnown;
}

TimeByCause GpuIdleSums::Of(const StepSums& all) const {
  if (steps.steps() == 0) return {};
  const double more = static_cast<double>(all.steps()) / static_cast<double>(steps.steps());
  const TimeByCause host = HostTime(all), timed = HostTime(steps);
  TimeByCause estimate;
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    const double expected = timed[cause] * more;
    const bool is_rare = cause != Cause::kFrameworkOverhead && host[cause] > kMostAlike * expected;
    estimate[cause] = idle[cause] * more;
    if (is_rare) estimate[cause] += host[cause] - expected;
  }
  return estimate;
}

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
