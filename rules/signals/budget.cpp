#include "rules/signals/budget.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace stepscope {
namespace {

constexpr CauseText kTexts[kCauses] = {
    {"busy", "busy", 0, "", "", ""},
    {"initialisation", "initialisation", 0, "",
     "Keep what is built at the start (caches, compiled models, copies of the data) from one run "
     "to the next, and start loading data while the model is built.",
     "MaxInitializationTime"},
    {"raw_data_input", "raw data input", 1, "data pipeline",
     "Keep the data nearer to the GPUs, store it in fewer and larger files, read ahead, and use "
     "more readers.",
     "DataloaderBottleneck,IOBottleneck,NetworkBottleneck"},
    {"preprocessing", "preprocessing", 2, "data pipeline",
     "Use more data-loader workers, do what is the same each time once before the training, or "
     "move "
     "it to the GPU.",
     "DataloaderBottleneck,CPUBottleneck,Dataloader"},
    {"host_to_device", "copies to the GPU", 3, "data pipeline",
     "Pin the loader's memory, copy without blocking, and copy the next batch while this one is "
     "computed.",
     ""},
    {"framework_overhead", "framework overhead", 4, "framework overhead",
     "The training thread cannot launch work as fast as the GPU does it: compile the model, fuse "
     "small operations, use CUDA graphs, or raise the batch size.",
     "FrameworkOverhead"},
    {"under_use", "work that does not fill the GPU", 4, "model",
     "Raise the batch size, use larger kernels, or use fewer or smaller GPUs.",
     "LowGPUUtilization,BatchSize"},
    {"communication", "communication", 5, "communication",
     "Overlap it with the backward pass, send larger or fewer messages, compress gradients, and "
     "look for the rank that arrives last.",
     "CommunicationBottleneck,Straggler,LoadBalancing,NetworkBottleneck"},
    {"device_to_host", "copies from the GPU", 6, "framework overhead",
     "Read losses and metrics less often, and without waiting for them.", ""},
    {"callbacks", "callbacks", 7, "framework overhead",
     "Call them less often, or do their work on another thread or process.", "PeriodicStall"},
    {"storage", "checkpoints and logs", 8, "data pipeline",
     "Write checkpoints less often, on another thread, and to a fast disk first.",
     "PeriodicStall,GrowingUpload"},
    {"unknown", "unknown causes", 0, "", "Report the phases of the steps, so that it gets a name.",
     "StalledTraining"},
};
// The advice for unexplained idle time, for a job that reports its phases.
constexpr std::string_view kUnexplained =
    "Neither the phases of the steps nor the host explain it. If it is within the steps: results "
    "that are copied from the GPU at each step (a loss that is read, metrics) look like this; only "
    "operator traces will name them. If it is between them: look at what the training did when no "
    "step ended.";

// The phases in which a step computes its model.
constexpr Phase kComputing[] = {Phase::kForward, Phase::kLoss, Phase::kBackward, Phase::kOptimizer};
constexpr std::pair<Phase, Cause> kStalls[] = {
    {Phase::kTransfer, Cause::kToDevice},  {Phase::kCommunication, Cause::kCommunication},
    {Phase::kCallback, Cause::kCallbacks}, {Phase::kCheckpoint, Cause::kStorage},
    {Phase::kOther, Cause::kUnknown},
};

double Seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// The part of waits for data that was raw input; where the host was not busy at all, the training
// waited for something on another machine.
double InputPart(const TimeByCause& shown) {
  const double input = shown[Cause::kRawInput] + shown[Cause::kStorage];
  const double both = input + shown[Cause::kPreprocessing] + shown[Cause::kFrameworkOverhead];
  return both <= 0 ? 1 : input / both;
}

TimeByCause Scaled(TimeByCause budget, double factor) {
  for (double& seconds : budget.seconds) seconds *= factor;
  return budget;
}

// Times in which steps stalled, in seconds. Phases that overlap count for no more than the steps.
TimeByCause StallsOf(const StepSums& steps, const TimeByCause& shown) {
  const double data = Seconds(steps.phase(Phase::kData)), input = InputPart(shown);
  TimeByCause stalls;
  stalls[Cause::kRawInput] = data * input;
  stalls[Cause::kPreprocessing] = data * (1 - input);
  for (const auto& [phase, cause] : kStalls) stalls[cause] += Seconds(steps.phase(phase));
  const double most = Seconds(steps.wall()), all = stalls.Total();
  return all > most ? Scaled(stalls, most / all) : stalls;
}

// Idle time while the model computed: only causes that are in the computing itself.
TimeByCause OfComputing(const TimeByCause& idle, double seconds) {
  TimeByCause computing;
  for (const Cause cause : {Cause::kFrameworkOverhead, Cause::kUnderUse}) {
    computing[cause] = idle[cause];
  }
  const double sum = computing.Total();
  if (sum > 0) return Scaled(computing, seconds / sum);
  computing[Cause::kUnknown] = seconds;
  return computing;
}

}  // namespace

const CauseText& TextOf(Cause cause) {
  return kTexts[static_cast<std::size_t>(cause)];
}

std::string_view AdviceOf(Cause cause, bool steps_told) {
  return cause == Cause::kUnknown && steps_told ? kUnexplained : TextOf(cause).advice;
}

double TimeByCause::Total() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

void TimeByCause::Add(const TimeByCause& other) {
  for (std::size_t i = 0; i < kCauses; ++i) seconds[i] += other.seconds[i];
}

TimeByCause GpuBudget(const HostSums& host, const RankSums& ranks) {
  const double idle = host.idle.Total();
  const double wall_s = Seconds(ranks.steps.wall());
  const double rank_s = host.host.Total() * static_cast<double>(ranks.ranks);
  TimeByCause budget = host.idle;
  if (wall_s > 0 && rank_s > 0) {
    const double in_steps = std::min(1.0, wall_s / rank_s);
    const double gpu_s_per_rank_s = (host.busy + idle) / std::max(rank_s, wall_s);
    const TimeByCause stalls = Scaled(StallsOf(ranks.steps, host.idle), gpu_s_per_rank_s);
    const double stalled = std::min(stalls.Total(), idle), left = idle - stalled;
    // Without knowing when the GPUs were idle, idle time goes to the time outside of steps first:
    // steps that keep the GPU busy are not to blame for the time between them.
    const double outside = std::min(left, (host.busy + idle) * (1 - in_steps));
    budget = stalled > 0 ? Scaled(stalls, stalled / stalls.Total()) : TimeByCause();
    budget.Add(OfComputing(host.idle, left - outside));
    if (idle > 0) budget.Add(Scaled(host.idle, outside / idle));
  }
  budget[Cause::kBusy] = host.busy;
  return budget;
}

// A training that never reports waits for data may well have waited: then only the phases that it
// calls computing count as computing.
TimeByCause StepBudget(const HostSums& host, const StepSums& steps, bool tells_of_waits) {
  TimeByCause budget = StallsOf(steps, host.host);
  const double rest = std::max(0.0, Seconds(steps.wall()) - budget.Total());
  double named = 0;
  for (const Phase phase : kComputing) named += Seconds(steps.phase(phase));
  budget[Cause::kBusy] = tells_of_waits ? rest : std::min(rest, named);
  budget[Cause::kUnknown] += rest - budget[Cause::kBusy];
  return budget;
}

}  // namespace stepscope
