// A GPU of the job has little to do, or swings between busy and idle.

#include <algorithm>
#include <map>
#include <string>

#include "core/base/text.h"
#include "rules/finding_track.h"
#include "rules/initialisation.h"
#include "rules/packing.h"
#include "rules/sentence.h"
#include "rules/statistics.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold_p95", 70, 0, 100, "%", "A GPU whose 95th percentile is below this is under-used."},
    {"threshold_p5", 10, 0, 100, "%",
     "A GPU whose 95th percentile is above threshold_p95 and whose 5th is below this swings."},
    {"window", 500, 1, SlidingPercentiles::kMostSamples, "samples",
     "How far a scan looks back, for each GPU."},
    {"patience", 1000, 0, 10'000'000, "samples",
     "Initialisation that is not judged; it ends with the first training step when there is one."},
};
constexpr std::string_view kMetrics[] = {"gpu_util_percent"};
constexpr std::size_t kMostShown = 64;  // GPUs in the evidence
constexpr std::string_view kAdvice =
    "Look for what the GPU waits for (data, CPU, communication), raise the batch size, avoid calls "
    "that block, or use fewer or smaller GPUs.";

struct Gpu {
  SlidingPercentiles window;
  Time last{};                      // sample
  double p5 = 0, p50 = 0, p95 = 0;  // at the last trigger, else at the last scan
  std::int64_t scans = 0, triggers = 0;
  bool fresh = false;  // samples came since the last scan

  template <typename State>
  void Fields(State& state) {
    state("window", window);
    state("last", last);
    state("p5", p5);
    state("p50", p50);
    state("p95", p95);
    state("scans", scans);
    state("triggers", triggers);
    state("fresh", fresh);
  }
};

class LowGpu : public Fold {
 public:
  LowGpu(const Params& params, const JobFacts& facts)
      : facts_(facts),
        threshold_p95_(params["threshold_p95"]),
        threshold_p5_(params["threshold_p5"]),
        window_(params.Samples("window")),
        start_(params.Samples("patience"), facts) {}

  void Observe(const StepView& steps) override { start_.Observe(steps); }
  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }
  Json Save() const override { return SaveFields(*this); }
  Status Load(const Json& state) override { return LoadFields(state, *this); }

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("findings", findings_);
    state("gpus", gpus_, [this] { return NewGpu(); });
    state("scans", scans_);
    state("judged", judged_);
    state("triggers", triggers_);
    state("lost", lost_);
    state("active", active_);
    state("first", first_);
    state("fired", fired_);
    state("last", last_);
  }

 private:
  Gpu NewGpu() const { return {SlidingPercentiles(static_cast<std::size_t>(window_))}; }
  void ScanGpu(const Subject& subject, Gpu& gpu, Time at);
  std::string Describe(const Subject& subject, const Gpu& gpu) const;
  std::vector<std::pair<Subject, const Gpu*>> Worst() const;
  Json Evidence() const;
  Verdict Unjudged() const;
  Verdict Found() const;

  JobFacts facts_;
  double threshold_p95_, threshold_p5_;
  std::int64_t window_;

  Initialisation start_;
  FindingTrack findings_;
  std::map<Subject, Gpu, std::less<>> gpus_;
  std::int64_t scans_ = 0, judged_ = 0, triggers_ = 0;  // judged and triggers: GPU by GPU
  double lost_ = 0;                                     // GPU time, in scans of one GPU
  bool active_ = false;
  std::optional<Time> first_, fired_, last_;  // first sample, first and last trigger
};

void LowGpu::Observe(const TickView& ticks) {
  std::vector<std::pair<Gpu*, const Column*>> gpus;
  for (std::size_t i = 0; i < ticks.series.size(); ++i) {
    if (ticks.series[i].metric != kMetrics[0]) continue;
    const Subject subject{std::string(ticks.node), ticks.series[i].device};
    auto found = gpus_.find(subject);
    if (found == gpus_.end()) found = gpus_.emplace(subject, NewGpu()).first;
    gpus.emplace_back(&found->second, &ticks.columns[i]);
  }
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const bool restart =
        start_.Observe(ticks.node, ticks.At(row)) == Initialisation::Tick::kFirstAfterStep;
    for (auto& [gpu, column] : gpus) {
      if (restart) gpu->window.Clear();
      if (!column->Has(row)) continue;
      gpu->window.Add(PercentBin(*column, row));
      gpu->fresh = true;
      gpu->last = ticks.At(row);
    }
  }
  if (ticks.first == ticks.end) return;
  const Time first = ticks.At(ticks.first);
  first_ = std::min(first_.value_or(first), first);
}

void LowGpu::Scan(Time at) {
  active_ = false;
  const std::int64_t judged_before = judged_;
  for (auto& [subject, gpu] : gpus_) {
    const bool judged = gpu.fresh && gpu.window.full() && start_.IsOver(subject.node);
    gpu.fresh = false;
    if (judged) ScanGpu(subject, gpu, at);
  }
  if (judged_ > judged_before) ++scans_;
}

void LowGpu::ScanGpu(const Subject& subject, Gpu& gpu, Time at) {
  const double p5 = gpu.window.Percentile(0.05), p50 = gpu.window.Percentile(0.50),
               p95 = gpu.window.Percentile(0.95);
  const bool triggers = p95 < threshold_p95_ || (p95 > threshold_p95_ && p5 < threshold_p5_);
  ++judged_;
  ++gpu.scans;
  if (triggers || gpu.triggers == 0) gpu.p5 = p5, gpu.p50 = p50, gpu.p95 = p95;
  if (!triggers) return;
  ++gpu.triggers;
  ++triggers_;
  lost_ += 1 - p50 / 100;
  active_ = true;
  last_ = at;
  if (!fired_) fired_ = at;
  findings_.Trigger(subject, gpu.last - facts_.interval * (window_ - 1), gpu.last,
                    Describe(subject, gpu) + ".",
                    {{"p5_percent", gpu.p5},
                     {"p50_percent", gpu.p50},
                     {"p95_percent", gpu.p95},
                     {"threshold_p95", threshold_p95_},
                     {"threshold_p5", threshold_p5_}});
}

// "GPU 0 of node a is under-used: the 95th percentile of its last 500 samples (250 s) is 4.00 %,
// below 70 %"
std::string LowGpu::Describe(const Subject& subject, const Gpu& gpu) const {
  const std::string who = Format("GPU {} of node {}", subject.device, subject.node);
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

std::vector<std::pair<Subject, const Gpu*>> LowGpu::Worst() const {
  std::vector<std::pair<Subject, const Gpu*>> gpus;
  for (const auto& [subject, gpu] : gpus_) gpus.emplace_back(subject, &gpu);
  std::ranges::stable_sort(gpus, [](const auto& a, const auto& b) {
    if (a.second->triggers != b.second->triggers) return a.second->triggers > b.second->triggers;
    return a.second->scans > 0 && (b.second->scans == 0 || a.second->p95 < b.second->p95);
  });
  return gpus;
}

Json LowGpu::Evidence() const {
  Json gpus = Json::array();
  for (const auto& [subject, gpu] : Worst()) {
    if (gpus.size() == kMostShown || gpu->scans == 0) break;
    gpus.push_back({{"node", subject.node},
                    {"device", subject.device},
                    {"triggers", gpu->triggers},
                    {"scans", gpu->scans},
                    {"p5_percent", gpu->p5},
                    {"p50_percent", gpu->p50},
                    {"p95_percent", gpu->p95}});
  }
  Json evidence = {{"triggers", triggers_},
                   {"judged", judged_},
                   {"scans", scans_},
                   {"window", SamplesText(window_, facts_.interval)},
                   {"findings_left_out", findings_.left_out()},
                   {"gpus", std::move(gpus)}};
  if (triggers_ > 0) {
    evidence["first_trigger_us"] = ToMicros(*fired_);
    evidence["last_trigger_us"] = ToMicros(*last_);
    evidence["advice"] = kAdvice;
  }
  return evidence;
}

Verdict LowGpu::Unjudged() const {
  Verdict verdict;
  const bool filling =
      std::ranges::any_of(gpus_, [&](const auto& gpu) { return start_.IsOver(gpu.first.node); });
  if (facts_.Gpus() + gpus_.size() == 0 && !facts_.nodes.empty()) {
    verdict.sentence = "no GPU on any node";
  } else if (!filling) {
    verdict.sentence = start_.Reason();
  } else {
    std::size_t seen = 0;
    for (const auto& [subject, gpu] : Worst()) seen = std::max(seen, gpu->window.size());
    verdict.sentence = Format("{} of {} samples of a GPU's window seen since the initialisation",
                              Grouped(static_cast<std::int64_t>(seen)), Grouped(window_));
  }
  return verdict;
}

Verdict LowGpu::Found() const {
  const auto worst = Worst();
  const auto low =
      std::ranges::count_if(worst, [](const auto& gpu) { return gpu.second->triggers > 0; });
  Verdict verdict;
  verdict.kind = VerdictKind::kFinding;
  verdict.sentence = Describe(worst[0].first, *worst[0].second);
  verdict.sentence += Format("; {} of {} fired {} in {}", low, CountText(std::ssize(worst), "GPU"),
                             CountText(triggers_, "time"), CountText(scans_, "scan"));
  verdict.sentence +=
      active_ ? "." : Format(", the last {} after the first sample.", LengthText(*last_ - *first_));
  verdict.share = static_cast<double>(triggers_) / static_cast<double>(judged_);
  verdict.severity = SeverityOfLoss(lost_ / static_cast<double>(judged_));
  verdict.active = active_;
  verdict.fired = fired_;
  return verdict;
}

Verdict LowGpu::Judge() const {
  if (judged_ == 0) return Unjudged();
  Verdict verdict;
  if (triggers_ > 0) {
    verdict = Found();
  } else {
    const auto gpus = Worst();
    const auto& [subject, gpu] = gpus[0];
    verdict.kind = VerdictKind::kClear;
    verdict.sentence = Format(
        "The least used GPU ({} of node {}) has a 95th percentile of {:.1f} % over its last {}, "
        "not below {:g} %; {} judged in {}.",
        subject.device, subject.node, gpu->p95, SamplesText(window_, facts_.interval),
        threshold_p95_, CountText(std::ssize(gpus), "GPU"), CountText(scans_, "scan"));
  }
  verdict.evidence = Evidence();
  return verdict;
}

}  // namespace

RuleType LowGpuUtilization() {
  return {"LowGPUUtilization",
          "A GPU is under-used, or swings between busy and idle.",
          kParams,
          kMetrics,
          StepNeed::kFirst,
          [](const Params& params, const JobFacts& facts) -> std::unique_ptr<Fold> {
            return std::make_unique<LowGpu>(params, facts);
          }};
}

}  // namespace stepscope
