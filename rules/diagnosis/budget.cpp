#include "rules/diagnosis/budget.h"

#include <algorithm>
#include <span>
#include <utility>

namespace stepscope {
namespace {

// The advice for unexplained time, for a job that reports its phases.
constexpr std::string_view kUnexplained =
    "Neither the phases of the steps nor the host explain it. If it is within the steps: look at "
    "what the script does between the optimizer's step and the next batch, and give it a name with "
    "stepscope.phase. If it is between them: look at what the training did when no step ended.";

constexpr std::pair<Phase, Cause> kStalls[] = {
    {Phase::kTransfer, Cause::kToDevice},       {Phase::kCommunication, Cause::kCommunication},
    {Phase::kCallback, Cause::kCallbacks},      {Phase::kCheckpoint, Cause::kStorage},
    {Phase::kOther, Cause::kUnknown},           {Phase::kSync, Cause::kSynchronisation},
    {Phase::kDeviceToHost, Cause::kFromDevice},
};
// The training thread works in a stretch of a step of which it computed for more than this.
constexpr double kThreadWorks = 0.3;
// Something large is copied from the GPU where more than this (megabytes a second) is sent in the
// time that no phase names, and that time is more than this of the steps.
constexpr double kSentFast = 1e3, kLeastUnnamed = 0.05;
// Whoever is slow may be waiting for a core where more of all cores (%) is in use.
constexpr double kCoresFull = 85;
// So a loader that computes at all (of a core) is, unless it waits for a disk for longer than this
// (%).
constexpr double kLoaderWorks = 0.2, kLoaderBlocked = 10;
// GPUs whose use is below this part of the time did nothing.
constexpr double kAsleep = 0.01;
// Steps compute when they name more than this part of their time so.
constexpr double kComputes = 0.5;
// Where the GPU takes the time, a training thread computes so much of it (of a core).
constexpr double kLaunchThread = 0.35;

// The part of a stretch of the steps in which the training thread computed or waited for a core, by
// that in all of the step time: between what is left when it computed in the remainder of the steps
// too
// (`elsewhere` of a core), and all of it.
double ThreadPart(const HostSums& host, double stretch, double wall, double elsewhere) {
  if (stretch <= 0 || !host.thread_percent.known()) return 0;
  const double computed = host.ThreadComputes() * wall;
  const double least = std::clamp((computed - elsewhere * (wall - stretch)) / stretch, 0.0, 1.0);
  return elsewhere < 1 ? least : (least + std::min(1.0, computed / stretch)) / 2;
}

// The part of waits for data that was preprocessing: loaders, or the training thread where there
// are none, that computed; on a host whose cores are full who computed little may have waited for
// one. Where it is not known whether there are any loaders: by what the host showed,
// too; where it was not busy at all, the training waited for something on another machine.
double PreprocessingPart(const HostSums& host, const StepSums& steps, double elsewhere) {
  if (host.loader_percent.known()) {
    const double computed = host.LoaderComputes();
    const bool starved = !host.loader_waits.known() && host.cpu_percent.Value() > kCoresFull &&
                         computed > kLoaderWorks && host.loader_blocked.Value() < kLoaderBlocked;
    return starved ? std::max(computed, 0.75) : computed;
  }
  const double data = ToSeconds(steps.phase(Phase::kData)), wall = ToSeconds(steps.wall());
  double thread = ThreadPart(host, data, wall, elsewhere);
  const bool starved = !host.thread_waits.known() && host.cpu_percent.Value() > kCoresFull &&
                       host.ThreadComputes() * wall > kThreadWorks * data;
  if (starved && data > 0) thread = std::max(thread, 0.75);
  if (host.loaders.known() && host.loaders.Value() < 0.5) return thread;
  const double input = host.host[Cause::kRawInput] + host.host[Cause::kStorage];
  const double both =
      input + host.host[Cause::kPreprocessing] + host.host[Cause::kFrameworkOverhead];
  return std::max(thread, both <= 0 ? 0 : 1 - input / both);
}

void DivideData(double preprocessing, TimeByCause& stalls) {
  const double data = stalls[Cause::kRawInput];
  stalls[Cause::kPreprocessing] += data * preprocessing;
  stalls[Cause::kRawInput] = data * (1 - preprocessing);
}

// The cause of time that no phase of a step names, or only as "other", on a node with GPUs.
Cause UnnamedCause(const HostSums& host, double unnamed, double wall) {
  const double sent = host.sent_megabytes.Value() * wall / std::max(unnamed, 1e-9);
  if (sent > kSentFast && unnamed > kLeastUnnamed * wall) return Cause::kFromDevice;
  const bool works = ThreadPart(host, unnamed, wall, kLaunchThread) > kThreadWorks;
  return works ? Cause::kCallbacks : Cause::kUnknown;
}

// Times in which steps stalled, in seconds. Phases that overlap count for no more than the steps.
TimeByCause PhaseStalls(const StepSums& steps) {
  TimeByCause stalls;
  stalls[Cause::kRawInput] = ToSeconds(steps.phase(Phase::kData));
  for (const auto& [phase, cause] : kStalls) stalls[cause] += ToSeconds(steps.phase(phase));
  const double most = ToSeconds(steps.wall()), all = stalls.Total();
  return all > most ? stalls.Scaled(most / all) : stalls;
}

// In seconds of ranks, on a node with GPUs.
TimeByCause StallsOf(const HostSums& host, const RankSums& ranks) {
  const double wall = ToSeconds(ranks.steps.wall());
  TimeByCause stalls;
  double unnamed = 0;
  if (KnowsGpuClock(ranks)) {
    stalls = ranks.gpu.Of(ranks.steps);
    const double named = ToSeconds(ranks.steps.phase(Phase::kCallback));
    const double outside = std::max(0.0, wall - ranks.steps.NamedSeconds());
    unnamed = outside <= 0 ? 0 : stalls[Cause::kCallbacks] * outside / (outside + named);
    stalls[Cause::kCallbacks] -= unnamed;
    unnamed += std::exchange(stalls[Cause::kUnknown], 0);
    stalls[Cause::kToDevice] =
        std::max(stalls[Cause::kToDevice], ToSeconds(ranks.steps.phase(Phase::kTransfer)));
  } else {
    stalls = PhaseStalls(ranks.steps);
    unnamed = std::exchange(stalls[Cause::kUnknown], 0);
    // Whoever names a backward pass watches the whole step.
    if (ranks.steps.phase(Phase::kBackward) > Duration::zero())
      unnamed += std::max(0.0, wall - ranks.steps.NamedSeconds());
  }
  DivideData(PreprocessingPart(host, ranks.steps, kLaunchThread), stalls);
  if (unnamed > 0) stalls[UnnamedCause(host, unnamed, wall)] += unnamed;
  return stalls;
}

// Idle time while the model computed: only causes that are in the computing itself. GPUs that did
// nothing all along had no part in what the steps name as computing.
TimeByCause OfComputing(const HostSums& host, const StepSums& steps, double seconds) {
  TimeByCause computing;
  const TimeByCause& idle = host.idle;
  const bool computes = steps.ComputingSeconds() > kComputes * ToSeconds(steps.wall());
  if (computes && host.busy < kAsleep * (host.busy + idle.Total())) {
    computing[Cause::kOnCpu] = seconds;
    return computing;
  }
  for (const Cause cause : {Cause::kFrameworkOverhead, Cause::kUnderUse}) {
    computing[cause] = idle[cause];
  }
  const double sum = computing.Total();
  if (sum > 0) return computing.Scaled(seconds / sum);
  computing[Cause::kUnknown] = seconds;
  return computing;
}

// At least so many seconds of the backward pass did the training thread not compute, whatever it
// did in the remainder of the steps.
double SleptInBackward(const HostSums& host, const StepSums& steps) {
  if (!host.thread_percent.known()) return 0;
  const double computed = host.thread_percent.Value() / 100 * ToSeconds(steps.wall());
  return std::max(0.0, ToSeconds(steps.phase(Phase::kBackward)) - computed);
}

// The part of the time of steps for which a CPU quota stopped the training: of each period what is
// over before the quota comes again, in which the training thread has no core.
double ThrottledPart(const HostSums& host) {
  const double without_core = 1 - std::min(1.0, host.thread_percent.Value() / 100);
  const double stopped = std::min(1.0, host.throttled_percent.Value() / 100);
  return std::min(stopped, without_core);
}

// GPUs idle within steps, for which nothing else is to blame, waited for a training thread that a
// quota stopped.
void MoveToThrottled(const HostSums& host, TimeByCause& idle) {
  const double part = ThrottledPart(host);
  for (const Cause cause : {Cause::kFrameworkOverhead, Cause::kUnderUse, Cause::kUnknown}) {
    const double moved = idle[cause] * part;
    idle[cause] -= moved;
    idle[Cause::kThrottled] += moved;
  }
}

// The part of the ranks' time that `seconds` of them were.
double PartOf(double seconds, double rank_s) {
  return rank_s > 0 ? std::clamp(seconds / rank_s, 0.0, 1.0) : 0;
}

}  // namespace

std::string_view AdviceOf(Cause cause, bool steps_told) {
  return cause == Cause::kUnknown && steps_told ? kUnexplained : TextOf(cause).advice;
}

bool KnowsGpuClock(const RankSums& ranks) {
  return ranks.gpu.IsEnoughFor(ranks.steps);
}

TimeByCause GpuBudget(const HostSums& host, const RankSums& ranks) {
  const double total = host.busy + host.idle.Total();
  const double wall_s = ToSeconds(ranks.steps.wall());
  const double evaluated_s = ToSeconds(ranks.steps.evaluation());
  TimeByCause budget = host.idle;
  budget[Cause::kBusy] = host.busy;
  if (wall_s <= 0 || host.host.Total() <= 0) return budget;
  const double rank_s =
      std::max(host.host.Total() * static_cast<double>(ranks.ranks), wall_s + evaluated_s);
  const double evaluated = total * PartOf(evaluated_s, rank_s);
  const double left_part = 1 - PartOf(evaluated_s, rank_s);
  TimeByCause stalls = StallsOf(host, ranks).Scaled(total / rank_s);
  double idle = host.idle.Total() * left_part;
  // A GPU that its own clock saw idle was not busy, whatever its driver counted.
  if (KnowsGpuClock(ranks)) idle = std::clamp(stalls.Total(), idle, total * left_part);
  const double stalled = std::min(stalls.Total(), idle), left = idle - stalled;
  // Without knowing when the GPUs were idle, idle time goes to the time outside of steps first:
  // steps that keep the GPU busy are not to blame for the time between them.
  const double outside = std::min(left, total * (1 - PartOf(wall_s + evaluated_s, rank_s)));
  budget = stalled > 0 ? stalls.Scaled(stalled / stalls.Total()) : TimeByCause();
  budget.Add(OfComputing(host, ranks.steps, left - outside));
  MoveToThrottled(host, budget);
  if (host.idle.Total() > 0)
    budget.Add(host.idle.Scaled(outside / host.idle.Total()));
  else
    budget[Cause::kUnknown] += outside;
  budget[Cause::kEvaluation] += evaluated;
  budget[Cause::kBusy] = total - evaluated - idle;
  return budget;
}

TimeByCause StepBudget(const HostSums& host, const StepSums& steps, bool exchanges) {
  TimeByCause budget = PhaseStalls(steps);
  DivideData(PreprocessingPart(host, steps, 1), budget);
  const double rest = std::max(0.0, ToSeconds(steps.wall()) - budget.Total());
  const double computed = std::min(rest, steps.ComputingSeconds());
  const double exchanged = exchanges ? std::min(computed, SleptInBackward(host, steps)) : 0;
  const double throttled = (computed - exchanged) * ThrottledPart(host);
  budget[Cause::kBusy] = computed - exchanged - throttled;
  budget[Cause::kThrottled] = throttled;
  budget[Cause::kCommunication] += exchanged;
  budget[Cause::kUnknown] += rest - computed;
  budget[Cause::kEvaluation] = ToSeconds(steps.evaluation());
  return budget;
}

void MoveToLateRank(TimeByCause& budget, const LateTime& late) {
  constexpr Cause kWaitedIn[] = {Cause::kCommunication, Cause::kSynchronisation,
                                 Cause::kUnderUse,      Cause::kFrameworkOverhead,
                                 Cause::kBusy,          Cause::kUnknown};
  constexpr Cause kData[] = {Cause::kPreprocessing, Cause::kRawInput};
  constexpr Cause kOutside[] = {Cause::kCallbacks, Cause::kFromDevice, Cause::kUnknown};
  const double total = budget.Total();
  const auto move = [&](std::span<const Cause> from, double part) {
    double left = total * std::clamp(part, 0.0, 1.0);
    for (const Cause cause : from) {
      const double moved = std::min(left, budget[cause]);
      budget[cause] -= moved;
      budget[Cause::kLateRank] += moved;
      left -= moved;
    }
  };
  move(kWaitedIn, late.waited);
  if (late.phase == Phase::kData) move(kData, late.own);
  if (!late.phase) move(kOutside, late.own);
}

}  // namespace stepscope
