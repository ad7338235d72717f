// The memory that a GPU has allocated jumps up.

#include <algorithm>
#include <map>
#include <string>

#include "core/base/text.h"
#include "rules/engine/next_check.h"
#include "rules/engine/sentence.h"
#include "rules/signals/device_fold.h"
#include "rules/stats/adjacent_windows.h"
#include "rules/stats/columns.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"increase", 5, 0, 100, "points",
     "How far the mean of a window must be above that of the window before."},
    {"window", 10, 1, AdjacentWindows::kMostSamples, "samples", "Samples of one mean."},
    kPatience,
};
constexpr std::string_view kMetrics[] = {"gpu_memory_used_percent"};
constexpr double kLeastRise = 0.05;     // points: what is 0.0 of them in words is no rise
constexpr std::size_t kMostShown = 64;  // GPUs in the evidence

// Two neighbouring means, in percent.
struct Rise {
  double before = 0, after = 0;

  double Points() const { return after - before; }
  template <typename State>
  void Fields(State& state) {
    state("before", before);
    state("after", after);
  }
};

struct Gpu {
  AdjacentWindows windows;
  Rise most, recent;                // of the job; since the last scan
  std::optional<Time> from, to;     // first and last sample since then at which it fired
  std::int64_t judged = 0;          // samples since then
  std::int64_t all = 0, risen = 0;  // judged samples of the job; those at which it fired

  template <typename State>
  void Fields(State& state) {
    state("windows", windows);
    state("most", most);
    state("recent", recent);
    state("from", from);
    state("to", to);
    state("judged", judged);
    state("all", all);
    state("risen", risen);
  }
};

class IncreaseFold : public DeviceFold<IncreaseFold> {
 public:
  IncreaseFold(const Params& params, const JobFacts& facts)
      : DeviceFold(params.Samples("patience"), facts),
        facts_(facts),
        increase_(params["increase"]),
        window_(params.Samples("window")) {}

  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;
  Time NextCheck(Time at) const override;
  Verdict Judge() const override;

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("gpus", gpus_, [this] { return NewGpu(); });
    state("scans", scans_);
  }

 private:
  Gpu NewGpu() const {
    return {AdjacentWindows(static_cast<std::size_t>(window_)), {}, {}, {}, {}};
  }
  void Add(Gpu& gpu, std::uint32_t bin, Time at) const;
  std::string Describe(const Subject& subject, const Rise& rise) const;
  std::pair<Subject, Rise> Worst() const;
  std::string Unjudged() const;
  double Share() const;
  Json Shown() const;

  JobFacts facts_;
  double increase_;
  std::int64_t window_;

  std::map<Subject, Gpu, std::less<>> gpus_;
};

void IncreaseFold::Observe(const TickView& ticks) {
  if (ticks.first == ticks.end) return;
  scans_.Saw(ticks.At(ticks.first));
  std::vector<std::pair<Gpu*, const Column*>> gpus;
  for (const DeviceColumn& each : ColumnsOf(ticks, kMetrics[0])) {
    const Subject subject{std::string(ticks.node), each.device};
    const auto found = gpus_.find(subject);
    Gpu& gpu =
        found == gpus_.end() ? gpus_.emplace(subject, NewGpu()).first->second : found->second;
    gpus.emplace_back(&gpu, each.column);
  }
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    if (start_.Observe(ticks.node, at) == Initialisation::Tick::kNotJudged) continue;
    for (auto& [gpu, column] : gpus) {
      if (column->Has(row)) Add(*gpu, PercentBin(*column, row), at);
    }
  }
}

void IncreaseFold::Add(Gpu& gpu, std::uint32_t bin, Time at) const {
  gpu.windows.Add(bin);
  if (!gpu.windows.full()) return;
  ++gpu.judged;
  ++gpu.all;
  const Rise rise{gpu.windows.MeanBefore(), gpu.windows.MeanNow()};
  if (rise.Points() <= increase_ || rise.Points() < kLeastRise) return;
  ++gpu.risen;
  if (rise.Points() > gpu.recent.Points()) gpu.recent = rise;
  if (!gpu.from) gpu.from = at;
  gpu.to = at;
}

void IncreaseFold::Scan(Time at) {
  scans_.Begin(at);
  for (auto& [subject, gpu] : gpus_) {
    if (gpu.judged == 0) continue;
    if (gpu.from) {
      Finding finding;
      finding.subject = subject;
      finding.from = *gpu.from - facts_.interval * (2 * window_ - 1);
      finding.to = *gpu.to;
      finding.sentence = Describe(subject, gpu.recent) + ".";
      finding.evidence = {{"before_percent", gpu.recent.before},
                          {"after_percent", gpu.recent.after}};
      scans_.Trigger(finding, 0);
      if (gpu.recent.Points() > gpu.most.Points()) gpu.most = gpu.recent;
    } else {
      scans_.Clear(subject);
    }
    gpu.recent = {};
    gpu.from.reset();
    gpu.judged = 0;
  }
  scans_.End();
}

Time IncreaseFold::NextCheck(Time at) const {
  if (scans_.triggers() > 0) return Time::max();
  const auto rose = [](const auto& each) { return each.second.judged > 0 && each.second.from; };
  return std::ranges::any_of(gpus_, rose) ? at : After(at, 1, facts_.interval);
}

std::string IncreaseFold::Describe(const Subject& subject, const Rise& rise) const {
  return Format(
      "The allocated memory of {} rose by {:.1f} points, from a mean of {:.1f} % over {} to "
      "{:.1f} % over the next; the threshold is {:g} points",
      GpuText(subject), rise.Points(), rise.before, SamplesText(window_, facts_.interval),
      rise.after, increase_);
}

std::pair<Subject, Rise> IncreaseFold::Worst() const {
  const auto& [subject, gpu] = *std::ranges::max_element(gpus_, [](const auto& a, const auto& b) {
    return a.second.most.Points() < b.second.most.Points();
  });
  return {subject, gpu.most};
}

Json IncreaseFold::Shown() const {
  Json gpus = Json::array();
  for (const auto& [subject, gpu] : gpus_) {
    if (gpus.size() == kMostShown) break;
    gpus.push_back({{"node", subject.node},
                    {"device", subject.device},
                    {"judged_samples", gpu.all},
                    {"firing_samples", gpu.risen},
                    {"most_points", gpu.most.Points()},
                    {"newest_percent", gpu.windows.full() ? gpu.windows.MeanNow() : 0}});
  }
  return gpus;
}

std::string IncreaseFold::Unjudged() const {
  std::vector<Subject> gpus;
  std::size_t seen = 0;
  for (const auto& [subject, gpu] : gpus_) {
    gpus.push_back(subject);
    seen = std::max(seen, gpu.windows.size());
  }
  const std::string reason = WithoutSamples(facts_, start_, gpus, kMetrics[0]);
  if (!reason.empty()) return reason;
  return Format("{} of {} samples of two windows of a GPU seen since the initialisation", seen,
                Grouped(2 * window_));
}

// Of the samples of all GPUs, those at which it fired.
double IncreaseFold::Share() const {
  std::int64_t all = 0, risen = 0;
  for (const auto& [subject, gpu] : gpus_) all += gpu.all, risen += gpu.risen;
  return static_cast<double>(risen) / static_cast<double>(std::max<std::int64_t>(all, 1));
}

Verdict IncreaseFold::Judge() const {
  if (scans_.judged() == 0) {
    Verdict verdict;
    verdict.sentence = Unjudged();
    return verdict;
  }
  Verdict verdict = scans_.Judge();
  if (verdict.kind == VerdictKind::kFinding) {
    const auto [subject, rise] = Worst();
    verdict.share = Share();
    verdict.sentence = Format("{}; {}.", Describe(subject, rise), scans_.FiredText("GPU"));
  } else {
    verdict.sentence = Format(
        "The allocated memory of no GPU rose by more than {:g} points between windows of {}; {} "
        "judged in {}.",
        increase_, SamplesText(window_, facts_.interval), CountText(scans_.devices(), "GPU"),
        CountText(scans_.scans(), "scan"));
  }
  verdict.evidence["gpus"] = Shown();
  return verdict;
}

}  // namespace

RuleType GpuMemoryIncrease() {
  return {
      .name = "GPUMemoryIncrease",
      .sentence = "The memory that a GPU has allocated jumps up.",
      .fires =
          "The mean allocated memory of a GPU over the newest window is higher than over the "
          "window before by more than increase.",
      .advice =
          "Look for what was allocated then (a longer batch, an evaluation, tensors that are "
          "kept); near 100 % the next one ends the job: lower the batch size or use GPUs with more "
          "memory.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kFirst,
      .make = MakeFold<IncreaseFold>,
  };
}

}  // namespace stepscope
