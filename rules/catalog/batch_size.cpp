// The GPU, its memory and the node's CPU all have room: a larger batch, or a smaller machine.

#include <algorithm>
#include <map>
#include <string>

#include "core/base/text.h"
#include "rules/engine/next_check.h"
#include "rules/engine/sentence.h"
#include "rules/signals/device_fold.h"
#include "rules/signals/device_windows.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"cpu_threshold_p95", 70, 0, 100, "%", "A node whose CPU is below this has room."},
    {"gpu_threshold_p95", 70, 0, 100, "%", "A GPU that is used less than this has room."},
    {"gpu_memory_threshold_p95", 70, 0, 100, "%",
     "A GPU with less than this of its memory allocated has room."},
    {"window", 500, 1, SlidingPercentiles::kMostSamples, "samples",
     "How far a scan looks back, for each GPU."},
    kPatience,
};
enum : std::size_t { kCpu, kGpu, kMemory };
constexpr std::string_view kMetrics[] = {"node_cpu_percent", "gpu_util_percent",
                                         "gpu_memory_used_percent"};
constexpr double kUnmoved = 0.1;  // points: memory that was allocated once and for all

// 95th percentiles at the GPU's last trigger, else at its last scan.
struct Gpu {
  double cpu = 0, gpu = 0, memory = 0;

  template <typename State>
  void Fields(State& state) {
    state("cpu", cpu);
    state("gpu", gpu);
    state("memory", memory);
  }
};

Json PercentilesOf(const Gpu& gpu) {
  return {{"cpu_p95_percent", gpu.cpu},
          {"gpu_p95_percent", gpu.gpu},
          {"gpu_memory_p95_percent", gpu.memory}};
}

class BatchFold : public DeviceFold<BatchFold, Gpu> {
 public:
  BatchFold(const Params& params, const JobFacts& facts)
      : DeviceFold(params.Samples("patience"), facts),
        thresholds_{params["cpu_threshold_p95"], params["gpu_threshold_p95"],
                    params["gpu_memory_threshold_p95"]},
        window_(params.Samples("window")),
        windows_(kMetrics, window_) {}

  void Observe(const StepView& steps) override {
    DeviceFold::Observe(steps);
    training_.Observe(steps);
  }
  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state.Added("training", training_);
    state("windows", windows_);
    state("gpus", devices_, [] { return Gpu(); });
    state("scans", scans_);
    state("reserved", reserved_);
    state("reserved_percent", reserved_percent_);
  }

 private:
  void ScanGpu(const Subject& subject, const DeviceWindows::Window& memory, const Gpu& now,
               double idle);
  Time NextTrigger(Time at) const override;
  bool IsJudged() const override { return scans_.triggers() > 0 || scans_.judged() > reserved_; }
  std::string Unjudged() const override;
  std::string Describe(const Subject& subject, const Gpu& gpu) const override;
  std::string ClearText() const override;
  Badness BadnessOf(const Subject& subject, const Gpu& gpu) const override {
    return {static_cast<double>(scans_.Of(subject).triggers), -gpu.gpu};
  }
  Json EvidenceOf(const Subject& subject, const Gpu& gpu) const override;
  void Complete(Verdict& verdict) const override {
    verdict.evidence["window"] = SamplesText(window_, facts_.interval);
  }

  Gpu thresholds_;
  std::int64_t window_;

  DeviceWindows windows_;
  TrainingTime training_;
  std::int64_t reserved_ = 0;    // scans of a GPU that could not be judged; see ScanGpu
  double reserved_percent_ = 0;  // allocated memory at the last of these scans
};

void BatchFold::Observe(const TickView& ticks) {
  windows_.Observe(ticks, start_, &training_, facts_.interval);
  if (ticks.first < ticks.end) scans_.Saw(ticks.At(ticks.first));
}

void BatchFold::Scan(Time at) {
  scans_.Begin(at);
  for (const auto& [subject, window] : windows_.Of(kGpu)) {
    const auto* cpu = windows_.Full(kCpu, {subject.node, ""});
    const auto* gpu = windows_.Full(kGpu, subject);
    const auto* memory = windows_.Full(kMemory, subject);
    if (!start_.IsOver(subject.node) || cpu == nullptr || gpu == nullptr || memory == nullptr) {
      continue;
    }
    if (training_.IsBehind(gpu->last, facts_.interval)) continue;
    ScanGpu(subject, *memory, {cpu->P(95), gpu->P(95), memory->P(95)}, 1 - gpu->P(50) / 100);
  }
  scans_.End();
  windows_.EndScan();
}

Time BatchFold::NextTrigger(Time at) const {
  auto lacking = static_cast<std::size_t>(window_);
  for (const auto& [subject, gpu] : windows_.Of(kGpu)) {
    const auto* cpu = windows_.Find(kCpu, {subject.node, ""});
    const auto* memory = windows_.Find(kMemory, subject);
    if (!start_.IsOver(subject.node) || training_.IsBehind(gpu.last, facts_.interval)) {
      lacking = 1;
      continue;
    }
    if (cpu == nullptr || memory == nullptr) continue;
    const std::size_t more = std::max({cpu->values.LackingBelow(0.95, thresholds_.cpu),
                                       gpu.values.LackingBelow(0.95, thresholds_.gpu),
                                       memory->values.LackingBelow(0.95, thresholds_.memory)});
    if (more == 0 && gpu.fresh && cpu->fresh && memory->fresh) return at;
    lacking = std::min(lacking, more);
  }
  return After(at, static_cast<std::int64_t>(lacking), facts_.interval);
}

void BatchFold::ScanGpu(const Subject& subject, const DeviceWindows::Window& memory, const Gpu& now,
                        double idle) {
  const bool low = now.cpu < thresholds_.cpu && now.gpu < thresholds_.gpu;
  // A framework that allocates everything in advance hides how much the batch needs.
  if (low && now.memory >= thresholds_.memory && now.memory - memory.P(5) <= kUnmoved) {
    ++reserved_;
    reserved_percent_ = now.memory;
    return;
  }
  const bool triggers = low && now.memory < thresholds_.memory;
  Gpu& gpu = devices_[subject];
  if (triggers || scans_.Of(subject).triggers == 0) gpu = now;
  if (!triggers) return scans_.Clear(subject);
  scans_.Trigger({.from = memory.last - facts_.interval * (window_ - 1),
                  .to = memory.last,
                  .subject = subject,
                  .sentence = Describe(subject, now) + ".",
                  .evidence = PercentilesOf(now)},
                 idle);
}

std::string BatchFold::Describe(const Subject& subject, const Gpu& gpu) const {
  return Format(
      "{}: over its last {} the 95th percentiles are {:.1f} % of its use (threshold {:g} %), "
      "{:.1f} % of its allocated memory ({:g} %) and {:.1f} % of the node's CPU ({:g} %)",
      GpuText(subject), SamplesText(window_, facts_.interval), gpu.gpu, thresholds_.gpu, gpu.memory,
      thresholds_.memory, gpu.cpu, thresholds_.cpu);
}

Json BatchFold::EvidenceOf(const Subject& subject, const Gpu& gpu) const {
  Json evidence = PercentilesOf(gpu);
  const DeviceScans::Device counts = scans_.Of(subject);
  evidence["triggers"] = counts.triggers;
  evidence["scans"] = counts.scans;
  return evidence;
}

std::string BatchFold::Unjudged() const {
  if (reserved_ > 0) {
    return Format(
        "{:.1f} % of a GPU's memory stays allocated, as when a framework takes it all in advance, "
        "in {}: how much the batch needs cannot be seen",
        reserved_percent_, CountText(reserved_, "scan"));
  }
  return windows_.Unjudged(windows_.Of(kGpu).empty() ? kGpu : kMemory, facts_, start_);
}

std::string BatchFold::ClearText() const {
  return Format("{}, not all below; {} judged in {}.", WorstText(),
                CountText(scans_.devices(), "GPU"), CountText(scans_.scans(), "scan"));
}

}  // namespace

RuleType BatchSize() {
  return {
      .name = "BatchSize",
      .sentence = "The GPU, its memory and the node's CPU all have room for a larger batch.",
      .fires =
          "At a scan, the 95th percentiles over the last window of the node's CPU, of a GPU's use "
          "and of its allocated memory are all below their thresholds. It says unknown where a "
          "framework allocates the memory in advance.",
      .advice =
          "Raise the batch size until the GPU's memory is used, or train on a smaller machine.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kAllThereAre,
      .make = MakeFold<BatchFold>,
  };
}

}  // namespace stepscope
