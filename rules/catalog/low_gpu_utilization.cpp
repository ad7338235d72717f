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
constexpr std::size_t kMostShown = 64;  // GPUs in the evidence

// At the GPU's last trigger, else at its last scan.
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

class LowGpu : public DeviceFold<LowGpu> {
 public:
  LowGpu(const Params& params, const JobFacts& facts)
      : DeviceFold(params.Samples("patience"), facts),
        facts_(facts),
        threshold_p95_(params["threshold_p95"]),
        threshold_p5_(params["threshold_p5"]),
        window_(params.Samples("window")),
        windows_(kMetrics, window_) {}

  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;
  Time NextCheck(Time at) const override;
  Verdict Judge() const override;

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("windows", windows_);
    state("gpus", gpus_, [] { return Gpu(); });
    state("scans", scans_);
  }

 private:
  void ScanGpu(const Subject& subject, const DeviceWindows::Window& window);
  bool Triggers(const Gpu& now) const {
    return now.p95 < threshold_p95_ || (now.p95 > threshold_p95_ && now.p5 < threshold_p5_);
  }
  std::string Describe(const Subject& subject, const Gpu& gpu) const;
  std::vector<std::pair<Subject, Gpu>> Worst() const;
  Json Shown() const;

  JobFacts facts_;
  double threshold_p95_, threshold_p5_;
  std::int64_t window_;

  DeviceWindows windows_;
  std::map<Subject, Gpu, std::less<>> gpus_;  // that were judged
};

void LowGpu::Observe(const TickView& ticks) {
  windows_.Observe(ticks, start_);
  if (ticks.first < ticks.end) scans_.Saw(ticks.At(ticks.first));
}

void LowGpu::Scan(Time at) {
  scans_.Begin(at);
  for (const auto& [subject, window] : windows_.Of(0)) {
    if (start_.IsOver(subject.node) && windows_.Full(0, subject) != nullptr) {
      ScanGpu(subject, window);
    }
  }
  scans_.End();
  windows_.EndScan();
}

Time LowGpu::NextCheck(Time at) const {
  if (scans_.triggers() > 0) return Time::max();
  auto lacking = static_cast<std::size_t>(window_);
  for (const auto& [subject, window] : windows_.Of(0)) {
    if (!start_.IsOver(subject.node)) {
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
  Gpu& gpu = gpus_[subject];
  if (triggers || scans_.Of(subject).triggers == 0) gpu = now;
  if (!triggers) return scans_.Clear(subject);
  gpu.mean = window.values.Mean();
  Finding finding;
  finding.subject = subject;
  finding.from = window.last - facts_.interval * (window_ - 1);
  finding.to = window.last;
  finding.sentence = Describe(subject, gpu) + ".";
  finding.evidence = {{"p5_percent", gpu.p5},
                      {"p50_percent", gpu.p50},
                      {"p95_percent", gpu.p95},
                      {"mean_percent", gpu.mean},
                      {"threshold_p95", threshold_p95_},
                      {"threshold_p5", threshold_p5_}};
  scans_.Trigger(finding, 1 - gpu.mean / 100);
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

std::vector<std::pair<Subject, Gpu>> LowGpu::Worst() const {
  std::vector<std::pair<Subject, Gpu>> gpus(gpus_.begin(), gpus_.end());
  std::ranges::stable_sort(gpus, [this](const auto& a, const auto& b) {
    const auto of_a = scans_.Of(a.first).triggers, of_b = scans_.Of(b.first).triggers;
    return of_a != of_b ? of_a > of_b : a.second.p95 < b.second.p95;
  });
  return gpus;
}

Json LowGpu::Shown() const {
  Json gpus = Json::array();
  for (const auto& [subject, gpu] : Worst()) {
    if (gpus.size() == kMostShown) break;
    const DeviceScans::Device counts = scans_.Of(subject);
    gpus.push_back({{"node", subject.node},
                    {"device", subject.device},
                    {"triggers", counts.triggers},
                    {"scans", counts.scans},
                    {"p5_percent", gpu.p5},
                    {"p50_percent", gpu.p50},
                    {"p95_percent", gpu.p95}});
    if (counts.triggers > 0) gpus.back()["mean_percent"] = gpu.mean;
  }
  return gpus;
}

Verdict LowGpu::Judge() const {
  if (scans_.judged() == 0) {
    Verdict verdict;
    verdict.sentence = windows_.Unjudged(0, facts_, start_);
    return verdict;
  }
  Verdict verdict = scans_.Judge();
  const auto [subject, gpu] = Worst()[0];
  if (verdict.kind == VerdictKind::kFinding) {
    verdict.sentence = Format("{}; {}.", Describe(subject, gpu), scans_.FiredText("GPU"));
  } else {
    verdict.sentence = Format(
        "The least used GPU ({} of node {}) has a 95th percentile of {:.1f} % over its last {}, "
        "not below {:g} %; {} judged in {}.",
        subject.device, subject.node, gpu.p95, SamplesText(window_, facts_.interval),
        threshold_p95_, CountText(scans_.devices(), "GPU"), CountText(scans_.scans(), "scan"));
  }
  verdict.evidence["window"] = SamplesText(window_, facts_.interval);
  verdict.evidence["gpus"] = Shown();
  return verdict;
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
      .steps = StepNeed::kFirst,
      .make = MakeFold<LowGpu>,
  };
}

}  // namespace stepscope
