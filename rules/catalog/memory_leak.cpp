// The memory of a host or a GPU rises steadily and will be full, or a control group's was full.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "rules/signals/device_fold.h"
#include "rules/stats/columns.h"
#include "rules/stats/memory_course.h"
#include "rules/stats/statistics.h"

namespace stepscope {
namespace {

// A hundred years: what grows more slowly has longer, whatever that is.
constexpr double kMostHours = 876'000;
constexpr Param kParams[] = {
    {"growth", 1, 0, 10'000, "%/h", "Points of the memory by which it must rise in an hour."},
    {"horizon", 24, 0.1, 10'000, "h", "It must be full within this."},
};
constexpr std::string_view kMetrics[] = {"memory_used_percent",      "gpu_memory_used_percent",
                                         "cgroup_memory_bytes",      "cgroup_memory_limit_bytes",
                                         "cgroup_memory_anon_bytes", "cgroup_oom_kills"};
// The device that stands for the control group of a node.
constexpr std::string_view kGroup = "cgroup";
// A shorter rise is how jobs start.
constexpr Duration kLeastLength = 30min, kStart = 10min;
// The figure of a control group has the files in it that the kernel keeps in memory as long as
// there is room. What the processes hold themselves is judged where a series tells it. Where none
// does, the figure counts only when the used memory of the node, which has no files in it, rises as
// well; where no series tells of that either, a rise must be longer and steadier.
constexpr double kNodeSteady = 0.8, kVerySteady = 0.98;
constexpr Duration kLongLength = 2h;

std::string KillsText(const Subject& subject, std::int64_t killed) {
  return Format("The kernel killed {} of the control group of node {} for want of memory",
                killed == 1 ? "1 process" : Format("{} processes", killed), subject.node);
}

class LeakFold : public DeviceFold<LeakFold, MemoryCourse> {
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
    state("memories", devices_, [] { return MemoryCourse(); });
    state("scans", scans_);
  }

 private:
  bool Fires(const MemoryCourse& memory) const {
    return memory.slope > growth_ && memory.IsSteady() && memory.HoursLeft() <= horizon_;
  }
  bool IsFilesOnly(const Subject& subject, const MemoryCourse& memory) const;
  bool Fires(const Subject& subject, const MemoryCourse& memory) const {
    return Fires(memory) && !IsFilesOnly(subject, memory);
  }
  void Scan(const Subject& subject, MemoryCourse& memory);
  void ScanKills(const Subject& subject, MemoryCourse& memory);
  std::string Unjudged() const override;
  std::string Describe(const Subject& subject, const MemoryCourse& memory) const override;
  std::string ClearText() const override;
  // The memory that is full first is the worst.
  Badness BadnessOf(const Subject& subject, const MemoryCourse& memory) const override {
    const double fires = Fires(subject, memory) ? 1 : 0;
    return {memory.kills.killed > 0 ? 2.0 : fires, static_cast<double>(scans_.Of(subject).triggers),
            -memory.HoursLeft(), memory.slope};
  }
  bool IsListed(const Subject& subject, const MemoryCourse&) const override {
    return scans_.Of(subject).scans > 0;
  }
  Json EvidenceOf(const Subject& subject, const MemoryCourse& memory) const override {
    return {{"triggers", scans_.Of(subject).triggers},
            {"percent_per_hour", memory.slope},
            {"now_percent", memory.end},
            {"killed", memory.kills.killed},
            {"rising_pairs", memory.rising},
            {"peaks_rise", memory.saw}};
  }
  void Complete(Verdict& verdict) const override {
    if (verdict.kind != VerdictKind::kFinding) return;
    const bool killed = std::ranges::any_of(
        devices_, [](const auto& each) { return each.second.kills.killed > 0; });
    verdict.severity = verdict.active || killed ? Severity::kMedium : Severity::kLow;
  }

  double growth_, horizon_;
};

void LeakFold::Observe(const TickView& ticks) {
  if (ticks.first == ticks.end) return;
  scans_.Saw(ticks.At(ticks.first));
  std::vector<std::pair<MemoryCourse*, const Column*>> memories;
  for (const std::string_view metric : {kMetrics[0], kMetrics[1]}) {
    const auto columns = DevicesOf(ticks, metric, [] { return MemoryCourse(); });
    memories.insert(memories.end(), columns.begin(), columns.end());
  }
  const auto used = ColumnsOf(ticks, kMetrics[2]), limit = ColumnsOf(ticks, kMetrics[3]);
  const auto anon = ColumnsOf(ticks, kMetrics[4]), kills = ColumnsOf(ticks, kMetrics[5]);
  const bool bounded = !used.empty() && !limit.empty();
  MemoryCourse* group = nullptr;
  if (bounded || !kills.empty()) {
    group = &devices_[Subject{std::string(ticks.node), std::string(kGroup)}];
  }
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    if (!kills.empty() && kills.front().Has(row))
      group->kills.Add(at, kills.front().column->At(row));
    if (start_.Observe(ticks.node, at) == Initialisation::Tick::kNotJudged) continue;
    for (auto& [memory, column] : memories) {
      if (column->Has(row)) memory->Add(at, PercentBin(*column, row));
    }
    if (!bounded || !used.front().Has(row) || !limit.front().Has(row)) continue;
    const double most = limit.front().column->At(row);
    if (most <= 0) continue;
    const bool told = !anon.empty() && anon.front().Has(row);
    group->without_files = told;
    const Column& held = told ? *anon.front().column : *used.front().column;
    group->Add(at, PercentBin(held.At(row) / most * 100));
  }
}

// Whether the growth of a control group may be of cached files.
bool LeakFold::IsFilesOnly(const Subject& subject, const MemoryCourse& memory) const {
  if (subject.device != kGroup || memory.without_files) return false;
  const auto node = devices_.find(Subject{subject.node, ""});
  if (node == devices_.end() || node->second.trend.FittedLength() < kLeastLength) {
    const bool sure = memory.saw || memory.rising >= kVerySteady;
    return !sure || memory.Length() < kLongLength;
  }
  const MemoryCourse& all = node->second;
  return !all.saw && !(all.slope > 0 && all.rising >= kNodeSteady);
}

void LeakFold::Scan(Time at) {
  scans_.Begin(at);
  std::vector<std::pair<const Subject*, MemoryCourse*>> judged;
  for (auto& [subject, memory] : devices_) {
    if (memory.kills.killed > memory.kills.told) {
      ScanKills(subject, memory);
      continue;
    }
    const bool fresh = std::exchange(memory.fresh, false);
    if (!fresh || memory.trend.FittedLength() < kLeastLength) continue;
    memory.Fit();
    judged.emplace_back(&subject, &memory);
  }
  for (const auto& [subject, memory] : judged) Scan(*subject, *memory);
  scans_.End();
}

void LeakFold::Scan(const Subject& subject, MemoryCourse& memory) {
  if (!Fires(subject, memory)) return scans_.Clear(subject);
  const Time to = *memory.trend.last();
  const auto left_us = static_cast<std::int64_t>(memory.HoursLeft() * 3.6e9);
  scans_.Trigger({.from = to - memory.Length(),
                  .to = to,
                  .subject = subject,
                  .sentence = Describe(subject, memory) + ".",
                  .evidence = {{"percent_per_hour", memory.slope},
                               {"now_percent", memory.end},
                               {"full_at_us", ToMicros(to) + left_us}}},
                 0);
}

// A killed process is told of at once, however short the job is; its memory is judged again by the
// next scan.
void LeakFold::ScanKills(const Subject& subject, MemoryCourse& memory) {
  GroupKills& kills = memory.kills;
  scans_.Trigger({.from = FromMicros(kills.from_us),
                  .to = FromMicros(kills.to_us),
                  .subject = subject,
                  .sentence = KillsText(subject, kills.killed - kills.told) + ".",
                  .evidence = {{"killed", kills.killed - kills.told}}},
                 0);
  kills.told = kills.killed;
}

std::string WhoseText(const Subject& subject) {
  if (subject.device.empty()) return "node " + subject.node;
  if (subject.device == kGroup) return "the control group of node " + subject.node;
  return GpuText(subject);
}

std::string LeakFold::Describe(const Subject& subject, const MemoryCourse& memory) const {
  if (memory.kills.killed > 0) return KillsText(subject, memory.kills.killed);
  const bool fires = Fires(subject, memory);
  const double hours = std::min(memory.HoursLeft(), kMostHours);
  const auto left = static_cast<std::int64_t>(hours * 3600);
  const std::string full = ", and will be full in " + LengthText(std::chrono::seconds(left));
  if (memory.saw && fires) {
    return Format(
               "The memory of {} rises and falls, but its peaks went from {:.1f} % to {:.1f} % in "
               "{}, {:+.2f} %/h, and its lows from {:.1f} % to {:.1f} %",
               WhoseText(subject), memory.start, memory.end, LengthText(memory.Length()),
               memory.slope, memory.low_start, memory.low_end) +
           full;
  }
  std::string text = Format("The memory of {} went from {:.1f} % to {:.1f} % in {}, {:+.2f} %/h",
                            WhoseText(subject), memory.start, memory.end,
                            LengthText(memory.Length()), memory.slope);
  if (!fires && Fires(memory)) text += "; that may be files kept in memory";
  if (!fires) return text;
  return text + Format(" in {:.0f} % of all pairs of stretches", memory.rising * 100) + full;
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
      .sentence =
          "The memory of a node, a container or a GPU rises steadily and will be full, or was.",
      .fires =
          "The memory of a node, of its control group or of a GPU rises steadily, by more than "
          "growth, and will be full within horizon. The slope is the median of all pairs of "
          "points, "
          "which outliers do not bend; of memory that rises and falls, the peaks and the lows must "
          "both rise. Of a control group counts what its processes hold, shared memory (/dev/shm) "
          "too; where only a figure with "
          "cached files in it is known, the used memory of the node must rise as well. Until "
          "memory has risen for 2 h it must be at 80 %: it "
          "may be "
          "the tooth of a saw. Also when the kernel kills a process of the control group for want "
          "of "
          "memory, such as a loader worker, though the job goes on.",
      .advice =
          "Look for what is kept from step to step: losses that hold their graph, lists of "
          "outputs, caches of the data set in each loader worker; start the workers anew at each "
          "epoch. Where a process was killed and nothing rises: fewer loader workers, or more "
          "memory for the job.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kFirst,
      .make = MakeFold<LeakFold>,
  };
}

}  // namespace stepscope
