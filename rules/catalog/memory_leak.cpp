// The memory of a host or a GPU rises steadily and will be full.

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
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
constexpr std::size_t kMostShown = 64;  // memories in the evidence

// Of one node (no device), or of one GPU.
struct Memory {
  Trend trend;
  std::int64_t fitted = 0;  // stretches that were complete when the line was
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

class LeakFold : public DeviceFold<LeakFold> {
 public:
  LeakFold(const Params& params, const JobFacts& facts)
      : DeviceFold(kStart / std::max(facts.interval, Duration(1ms)), facts),
        growth_(params["growth"]),
        horizon_(params["horizon"]) {}

  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;
  Verdict Judge() const override;

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("memories", memories_, [] { return Memory(); });
    state("scans", scans_);
  }

 private:
  bool Fires(const Memory& memory) const {
    return memory.slope > growth_ && memory.rising >= kSteady && memory.HoursLeft() <= horizon_;
  }
  std::string Describe(const Subject& subject, const Memory& memory) const;
  std::pair<Subject, const Memory*> Worst() const;
  std::string Unjudged() const;
  Json Shown() const;

  double growth_, horizon_;

  std::map<Subject, Memory, std::less<>> memories_;
};

void LeakFold::Observe(const TickView& ticks) {
  if (ticks.first == ticks.end) return;
  scans_.Saw(ticks.At(ticks.first));
  std::vector<std::pair<Memory*, const Column*>> memories;
  for (const std::string_view metric : kMetrics) {
    for (const DeviceColumn& each : ColumnsOf(ticks, metric)) {
      memories.emplace_back(&memories_[{std::string(ticks.node), each.device}], each.column);
    }
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
  for (auto& [subject, memory] : memories_) {
    const bool fresh = std::exchange(memory.fresh, false);
    if (!fresh || memory.trend.FittedLength() < kLeastLength) continue;
    memory.Fit();
    if (!Fires(memory)) {
      scans_.Clear(subject);
      continue;
    }
    Finding finding;
    finding.subject = subject;
    finding.to = *memory.trend.last();
    finding.from = finding.to - memory.trend.FittedLength();
    finding.sentence = Describe(subject, memory) + ".";
    finding.evidence = {{"percent_per_hour", memory.slope},
                        {"now_percent", memory.end},
                        {"full_at_us", ToMicros(finding.to) +
                                           static_cast<std::int64_t>(memory.HoursLeft() * 3.6e9)}};
    scans_.Trigger(finding, 0);
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

// The one that is full first.
std::pair<Subject, const Memory*> LeakFold::Worst() const {
  std::pair<Subject, const Memory*> worst{{}, nullptr};
  const auto order = [this](const Subject& subject, const Memory& memory) {
    return std::tuple(!Fires(memory), -scans_.Of(subject).triggers, memory.HoursLeft(),
                      -memory.slope);
  };
  for (const auto& [subject, memory] : memories_) {
    if (scans_.Of(subject).scans == 0) continue;
    if (worst.second == nullptr || order(subject, memory) < order(worst.first, *worst.second)) {
      worst = {subject, &memory};
    }
  }
  return worst;
}

Json LeakFold::Shown() const {
  Json memories = Json::array();
  for (const auto& [subject, memory] : memories_) {
    if (memories.size() == kMostShown) break;
    if (scans_.Of(subject).scans == 0) continue;
    memories.push_back({{"node", subject.node},
                        {"device", subject.device},
                        {"triggers", scans_.Of(subject).triggers},
                        {"percent_per_hour", memory.slope},
                        {"now_percent", memory.end},
                        {"rising_pairs", memory.rising}});
  }
  return memories;
}

std::string LeakFold::Unjudged() const {
  Duration longest{};
  bool over = false;
  for (const auto& [subject, memory] : memories_) {
    longest = std::max(longest, memory.trend.FittedLength());
    over = over || start_.IsOver(subject.node);
  }
  if (memories_.empty() && scans_.SawAny()) return "no samples of memory use";
  if (!over) return start_.Reason();
  return Format("{} of {} of memory use seen since the initialisation", LengthText(longest),
                LengthText(kLeastLength));
}

Verdict LeakFold::Judge() const {
  if (scans_.judged() == 0) {
    Verdict verdict;
    verdict.sentence = Unjudged();
    return verdict;
  }
  Verdict verdict = scans_.Judge();
  const auto [subject, memory] = Worst();
  verdict.sentence = Describe(subject, *memory);
  if (verdict.kind == VerdictKind::kFinding) {
    verdict.severity = verdict.active ? Severity::kMedium : Severity::kLow;
    verdict.sentence += "; " + scans_.FiredText("device");
  } else {
    verdict.sentence +=
        Format(": not a steady rise of more than {:g} %/h to a full memory within {:g} h", growth_,
               horizon_);
  }
  verdict.sentence += ".";
  verdict.evidence["memories"] = Shown();
  return verdict;
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
