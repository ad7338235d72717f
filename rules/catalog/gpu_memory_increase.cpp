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
constexpr double kLeastRise = 0.05;  // points: a rise that is printed as 0.0 is none

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
  Rise most, recent;                // largest rise of the job; largest since the last scan
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

class IncreaseFold : public DeviceFold<IncreaseFold, Gpu> {
 public:
  IncreaseFold(const Params& params, const JobFacts& facts)
      : DeviceFold(params.Samples("patience"), facts),
        increase_(params["increase"]),
        window_(params.Samples("window")) {}

  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("gpus", devices_, [this] { return NewGpu(); });
    state("scans", scans_);
  }

 private:
  Gpu NewGpu() const {
    return {AdjacentWindows(static_cast<std::size_t>(window_)), {}, {}, {}, {}};
  }
  void Add(Gpu& gpu, std::uint32_t bin, Time at) const;
  std::string RiseText(const Subject& subject, const Rise& rise) const;
  Time NextTrigger(Time at) const override;
  std::string Unjudged() const override;
  std::string Describe(const Subject& subject, const Gpu& gpu) const override {
    return RiseText(subject, gpu.most);
  }
  std::string ClearText() const override;
  Badness BadnessOf(const Subject&, const Gpu& gpu) const override { return {gpu.most.Points()}; }
  Json EvidenceOf(const Subject&, const Gpu& gpu) const override;
  void Complete(Verdict& verdict) const override;

  double increase_;
  std::int64_t window_;
};

void IncreaseFold::Observe(const TickView& ticks) {
  if (ticks.first == ticks.end) return;
  scans_.Saw(ticks.At(ticks.first));
  const auto gpus = DevicesOf(ticks, kMetrics[0], [this] { return NewGpu(); });
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    if (start_.Observe(ticks.node, at) == Initialisation::Tick::kNotJudged) continue;
    for (const auto& [gpu, column] : gpus) {
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
  for (auto& [subject, gpu] : devices_) {
    if (gpu.judged == 0) continue;
    if (gpu.from) {
      scans_.Trigger({.from = *gpu.from - facts_.interval * (2 * window_ - 1),
                      .to = *gpu.to,
                      .subject = subject,
                      .sentence = RiseText(subject, gpu.recent) + ".",
                      .evidence = {{"before_percent", gpu.recent.before},
                                   {"after_percent", gpu.recent.after}}},
                     0);
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

Time IncreaseFold::NextTrigger(Time at) const {
  const auto rose = [](const auto& each) { return each.second.judged > 0 && each.second.from; };
  return std::ranges::any_of(devices_, rose) ? at : After(at, 1, facts_.interval);
}

std::string IncreaseFold::RiseText(const Subject& subject, const Rise& rise) const {
  return Format(
      "The allocated memory of {} rose by {:.1f} points, from a mean of {:.1f} % over {} to "
      "{:.1f} % over the next; the threshold is {:g} points",
      GpuText(subject), rise.Points(), rise.before, SamplesText(window_, facts_.interval),
      rise.after, increase_);
}

Json IncreaseFold::EvidenceOf(const Subject&, const Gpu& gpu) const {
  return {{"judged_samples", gpu.all},
          {"firing_samples", gpu.risen},
          {"most_points", gpu.most.Points()},
          {"newest_percent", gpu.windows.full() ? gpu.windows.MeanNow() : 0}};
}

std::string IncreaseFold::Unjudged() const {
  const std::string reason = WithoutSamples(kMetrics[0]);
  if (!reason.empty()) return reason;
  std::size_t seen = 0;
  for (const auto& [subject, gpu] : devices_) seen = std::max(seen, gpu.windows.size());
  return Format("{} of {} samples of two windows of a GPU seen since the initialisation", seen,
                Grouped(2 * window_));
}

std::string IncreaseFold::ClearText() const {
  return Format(
      "The allocated memory of no GPU rose by more than {:g} points between windows of {}; {} "
      "judged in {}.",
      increase_, SamplesText(window_, facts_.interval), CountText(scans_.devices(), "GPU"),
      CountText(scans_.scans(), "scan"));
}

// The samples at which it fired, as a part of the judged samples of all GPUs.
void IncreaseFold::Complete(Verdict& verdict) const {
  if (verdict.kind != VerdictKind::kFinding) return;
  verdict.share =
      ShareOf([](const Subject&, const Gpu& gpu) { return std::pair(gpu.risen, gpu.all); });
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
