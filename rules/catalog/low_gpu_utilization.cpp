// A GPU of the job has little to do, or swings between busy and idle.

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
    {"threshold_p95", 70, 0, 100, "%", "A GPU whose 95th percentile is below this is under-used."},
    {.name = "threshold_p5",
     .fallback = 10,
     .least = 0,
     .most = 100,
     .unit = "%",
     .help = "A GPU whose 95th percentile is above threshold_p95 and whose 5th is below this "
             "swings; not above threshold_p95.",
     .not_above = "threshold_p95"},
    {"window", 500, 1, SlidingPercentiles::kMostSamples, "samples",
     "How far a scan looks back, for each GPU."},
    kPatience,
};
constexpr std::string_view kMetrics[] = {"gpu_util_percent"};

// Percentiles at the GPU's last trigger, else at its last scan.
struct Gpu {
  double p5 = 0, p50 = 0, p95 = 0;
  double mean = 0;  // at the last trigger

  template <typename State>
  void Fields(State& state) {
    state("p5", p5);
    state("p50", p50);
    state("p95", p95);
    state("mean", mean);
  }
};

Gpu NowOf(const DeviceWindows::Window& window) {
  return {window.P(5), window.P(50), window.P(95), 0};
}

class LowGpu : public DeviceFold<LowGpu, Gpu> {
 public:
  LowGpu(const Params& params, const JobFacts& facts)
      : DeviceFold(params.Samples("patience"), facts),
        threshold_p95_(params["threshold_p95"]),
        threshold_p5_(params["threshold_p5"]),
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
  }

 private:
  void ScanGpu(const Subject& subject, const DeviceWindows::Window& window);
  bool Triggers(const Gpu& now) const {
    return now.p95 < threshold_p95_ || (now.p95 > threshold_p95_ && now.p5 < threshold_p5_);
  }
  Time NextTrigger(Time at) const override;
  std::string Unjudged() const override { return windows_.Unjudged(0, facts_, start_); }
  std::string Describe(const Subject& subject, const Gpu& gpu) const override;
  std::string ClearText() const override;
  Badness BadnessOf(const Subject& subject, const Gpu& gpu) const override {
    return {static_cast<double>(scans_.Of(subject).triggers), -gpu.p95};
  }
  std::vector<const Entry*> ListedDevices() const override;
  Json EvidenceOf(const Subject& subject, const Gpu& gpu) const override;
  void Complete(Verdict& verdict) const override {
    verdict.evidence["window"] = SamplesText(window_, facts_.interval);
  }

  double threshold_p95_, threshold_p5_;
  std::int64_t window_;

  DeviceWindows windows_;
  TrainingTime training_;
};

void LowGpu::Observe(const TickView& ticks) {
  windows_.Observe(ticks, start_, &training_, facts_.interval);
  if (ticks.first < ticks.end) scans_.Saw(ticks.At(ticks.first));
}

void LowGpu::Scan(Time at) {
  scans_.Begin(at);
  for (const auto& [subject, window] : windows_.Of(0)) {
    if (!start_.IsOver(subject.node) || windows_.Full(0, subject) == nullptr) continue;
    if (!training_.IsBehind(window.last, facts_.interval)) ScanGpu(subject, window);
  }
  scans_.End();
  windows_.EndScan();
}

Time LowGpu::NextTrigger(Time at) const {
  auto lacking = static_cast<std::size_t>(window_);
  for (const auto& [subject, window] : windows_.Of(0)) {
    if (!start_.IsOver(subject.node) || training_.IsBehind(window.last, facts_.interval)) {
      lacking = 1;
      continue;
    }
    const std::size_t more = std::min(window.values.LackingBelow(0.95, threshold_p95_),
                                      window.values.LackingBelow(0.05, threshold_p5_));
    if (more == 0 && window.fresh && Triggers(NowOf(window))) return at;
    lacking = std::min(lacking, more);
  }
  return After(at, static_cast<std::int64_t>(lacking), facts_.interval);
}

void LowGpu::ScanGpu(const Subject& subject, const DeviceWindows::Window& window) {
  const Gpu now = NowOf(window);
  const bool triggers = Triggers(now);
  Gpu& gpu = devices_[subject];
  if (triggers || scans_.Of(subject).triggers == 0) gpu = now;
  if (!triggers) return scans_.Clear(subject);
  gpu.mean = window.values.Mean();
  scans_.Trigger({.from = window.last - facts_.interval * (window_ - 1),
                  .to = window.last,
                  .subject = subject,
                  .sentence = Describe(subject, gpu) + ".",
                  .evidence = {{"p5_percent", gpu.p5},
                               {"p50_percent", gpu.p50},
                               {"p95_percent", gpu.p95},
                               {"mean_percent", gpu.mean},
                               {"threshold_p95", threshold_p95_},
                               {"threshold_p5", threshold_p5_}}},
                 1 - gpu.mean / 100);
}

// "GPU 0 of node a is under-used: the 95th percentile of its last 500 samples (250 s) is 4.00 %,
// below 70 %"
std::string LowGpu::Describe(const Subject& subject, const Gpu& gpu) const {
  const std::string who = GpuText(subject);
  const std::string window = SamplesText(window_, facts_.interval);
  if (gpu.p95 < threshold_p95_) {
    return Format("{} is under-used: the 95th percentile of its last {} is {:.1f} %, below {:g} %",
                  who, window, gpu.p95, threshold_p95_);
  }
  return Format(
      "{} swings between busy and idle: of its last {} the 95th percentile is {:.1f} %, above "
      "{:g} %, and the 5th is {:.1f} %, below {:g} %",
      who, window, gpu.p95, threshold_p95_, gpu.p5, threshold_p5_);
}

// The worst first.
std::vector<const LowGpu::Entry*> LowGpu::ListedDevices() const {
  auto listed = DeviceFold::ListedDevices();
  const auto badness = [this](const Entry* each) { return BadnessOf(each->first, each->second); };
  std::ranges::stable_sort(listed, std::ranges::greater(), badness);
  return listed;
}

Json LowGpu::EvidenceOf(const Subject& subject, const Gpu& gpu) const {
  const DeviceScans::Device counts = scans_.Of(subject);
  Json evidence = {{"triggers", counts.triggers},
                   {"scans", counts.scans},
                   {"p5_percent", gpu.p5},
                   {"p50_percent", gpu.p50},
                   {"p95_percent", gpu.p95}};
  if (counts.triggers > 0) evidence["mean_percent"] = gpu.mean;
  return evidence;
}

std::string LowGpu::ClearText() const {
  const auto& [subject, gpu] = Worst();
  return Format(
      "The least used GPU ({} of node {}) has a 95th percentile of {:.1f} % over its last {}, "
      "not below {:g} %; {} judged in {}.",
      subject.device, subject.node, gpu.p95, SamplesText(window_, facts_.interval), threshold_p95_,
      CountText(scans_.devices(), "GPU"), CountText(scans_.scans(), "scan"));
}

}  // namespace

RuleType LowGpuUtilization() {
  return {
      .name = "LowGPUUtilization",
      .sentence = "A GPU is under-used, or swings between busy and idle.",
      .fires =
          "At a scan, the 95th percentile of a GPU's use over the last window is below "
          "threshold_p95 (under-used), or it is above and the 5th percentile is below threshold_p5 "
          "(swinging). One trigger is one GPU at one scan.",
      .advice =
          "Look for what the GPU waits for (data, CPU, communication), raise the batch size, "
          "avoid "
          "calls that block, or use fewer or smaller GPUs.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kAllThereAre,
      .make = MakeFold<LowGpu>,
  };
}

}  // namespace stepscope
