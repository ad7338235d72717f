// The memory of a host or a GPU rises steadily and will be full.

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "rules/signals/device_fold.h"
#include "rules/stats/columns.h"
#include "rules/stats/statistics.h"
#include "rules/stats/trend.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"growth", 1, 0, 10'000, "%/h", "Points of the memory by which it must rise in an hour."},
    {"horizon", 24, 0.1, 10'000, "h", "It must be full within this."},
};
constexpr std::string_view kMetrics[] = {"memory_used_percent", "gpu_memory_used_percent"};
// A rise is steady when nearly all pairs of stretches rise; a shorter one is how jobs start.
constexpr double kSteady = 0.9;
constexpr Duration kLeastLength = 30min, kStart = 10min;

// The memory of one node (no device), or of one GPU.
struct Memory {
  Trend trend;
  std::int64_t fitted = 0;  // trend.complete() when the line was fitted
  double slope = 0, start = 0, end = 0, rising = 0;
  bool fresh = false;  // samples came since the last scan

  double HoursLeft() const { return slope <= 0 ? 1e9 : std::max(0.0, 100 - end) / slope; }
  void Fit();
  template <typename State>
  void Fields(State& state) {
    state("trend", trend);
    state("fitted", fitted);
    state("slope", slope);
    state("start", start);
    state("end", end);
    state("rising", rising);
    state("fresh", fresh);
  }
};

void Memory::Fit() {
  if (fitted == trend.complete()) return;
  fitted = trend.complete();
  const auto line = trend.Fit();
  if (!line) return;
  slope = line->slope, start = line->start, end = line->end, rising = line->rising;
}

class LeakFold : public DeviceFold<LeakFold, Memory> {
 public:
  LeakFold(const Params& params, const JobFacts& facts)
      : DeviceFold(kStart / std::max(facts.interval, Duration(1ms)), facts, {"device", "memories"}),
        growth_(params["growth"]),
        horizon_(params["horizon"]) {}

  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("memories", devices_, [] { return Memory(); });
    state("scans", scans_);
  }

 private:
  bool Fires(const Memory& memory) const {
    return memory.slope > growth_ && memory.rising >= kSteady && memory.HoursLeft() <= horizon_;
  }
  std::string Unjudged() const override;
  std::string Describe(const Subject& subject, const Memory& memory) const override;
  std::string ClearText() const override;
  // The memory that is full first is the worst.
  Badness BadnessOf(const Subject& subject, const Memory& memory) const override {
    return {Fires(memory) ? 1.0 : 0.0, static_cast<double>(scans_.Of(subject).triggers),
            -memory.HoursLeft(), memory.slope};
  }
  bool IsListed(const Subject& subject, const Memory&) const override {
    return scans_.Of(subject).scans > 0;
  }
  Json EvidenceOf(const Subject& subject, const Memory& memory) const override {
    return {{"triggers", scans_.Of(subject).triggers},
            {"percent_per_hour", memory.slope},
            {"now_percent", memory.end},
            {"rising_pairs", memory.rising}};
  }
  void Complete(Verdict& verdict) const override {
    if (verdict.kind != VerdictKind::kFinding) return;
    verdict.severity = verdict.active ? Severity::kMedium : Severity::kLow;
  }

  double growth_, horizon_;
};

void LeakFold::Observe(const TickView& ticks) {
  if (ticks.first == ticks.end) return;
  scans_.Saw(ticks.At(ticks.first));
  std::vector<std::pair<Memory*, const Column*>> memories;
  for (const std::string_view metric : kMetrics) {
    const auto columns = DevicesOf(ticks, metric, [] { return Memory(); });
    memories.insert(memories.end(), columns.begin(), columns.end());
  }
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    if (start_.Observe(ticks.node, at) == Initialisation::Tick::kNotJudged) continue;
    for (auto& [memory, column] : memories) {
      if (!column->Has(row)) continue;
      memory->trend.Add(at, PercentBin(*column, row));
      memory->fresh = true;
    }
  }
}

void LeakFold::Scan(Time at) {
  scans_.Begin(at);
  for (auto& [subject, memory] : devices_) {
    const bool fresh = std::exchange(memory.fresh, false);
    if (!fresh || memory.trend.FittedLength() < kLeastLength) continue;
    memory.Fit();
    if (!Fires(memory)) {
      scans_.Clear(subject);
      continue;
    }
    const Time to = *memory.trend.last();
    const auto left_us = static_cast<std::int64_t>(memory.HoursLeft() * 3.6e9);
    scans_.Trigger({.from = to - memory.trend.FittedLength(),
                    .to = to,
                    .subject = subject,
                    .sentence = Describe(subject, memory) + ".",
                    .evidence = {{"percent_per_hour", memory.slope},
                                 {"now_percent", memory.end},
                                 {"full_at_us", ToMicros(to) + left_us}}},
                   0);
  }
  scans_.End();
}

std::string LeakFold::Describe(const Subject& subject, const Memory& memory) const {
  const std::string who = subject.device.empty() ? "node " + subject.node : GpuText(subject);
  std::string text =
      Format("The memory of {} went from {:.1f} % to {:.1f} % in {}, {:+.2f} %/h", who,
             memory.start, memory.end, LengthText(memory.trend.FittedLength()), memory.slope);
  if (!Fires(memory)) return text;
  const auto left = static_cast<std::int64_t>(memory.HoursLeft() * 3600);
  return text + Format(" in {:.0f} % of all pairs of stretches, and will be full in {}",
                       memory.rising * 100, LengthText(std::chrono::seconds(left)));
}

std::string LeakFold::Unjudged() const {
  Duration longest{};
  bool over = false;
  for (const auto& [subject, memory] : devices_) {
    longest = std::max(longest, memory.trend.FittedLength());
    over = over || start_.IsOver(subject.node);
  }
  if (devices_.empty() && scans_.SawAny()) return "no samples of memory use";
  if (!over) return start_.Reason();
  return Format("{} of {} of memory use seen since the initialisation", LengthText(longest),
                LengthText(kLeastLength));
}

std::string LeakFold::ClearText() const {
  return WorstText() +
         Format(": not a steady rise of more than {:g} %/h to a full memory within {:g} h.",
                growth_, horizon_);
}

}  // namespace

RuleType MemoryLeak() {
  return {
      .name = "MemoryLeak",
      .sentence = "The memory of a node or a GPU rises steadily and will be full.",
      .fires =
          "The memory of a node or of a GPU rises steadily, by more than growth, and will be full "
          "within horizon. The slope is the median of all pairs of points, which outliers do not "
          "bend.",
      .advice =
          "Look for what is kept from step to step: losses that hold their graph, lists of "
          "outputs, caches of the data set in each loader worker; start the workers anew at each "
          "epoch.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kFirst,
      .make = MakeFold<LeakFold>,
  };
}

}  // namespace stepscope
