// A quota of CPU time holds the control group of the job down.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/base/text.h"
#include "rules/engine/next_check.h"
#include "rules/engine/sentence.h"
#include "rules/signals/device_fold.h"
#include "rules/stats/columns.h"
#include "rules/stats/statistics.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 25, 0, 100, "%",
     "Share of the scheduling periods in which the quota was used up from which it fires."},
    {"duration", 60, 5, 86'400, "s", "Time over which that share is meant."},
    {"gpu_threshold", 90, 0, 100, "%",
     "A node whose GPUs are busier than this loses nothing by its quota."},
};
constexpr std::string_view kMetrics[] = {"cgroup_throttled_percent", "cgroup_cpu_percent",
                                         "gpu_util_percent"};
constexpr std::int64_t kLeastSamples = 6;
// Counters of a group are read every few ticks, and a sample tells of the time since the one
// before, of so much at most: longer it may have had no reader.
constexpr Duration kLongestSample = 10s;
constexpr double kMuch = 50;  // share of the periods from which the severity is high

// The control group of a node.
struct Group {
  SlidingPercentiles throttled{1}, gpu{1};  // for each of the newest ticks; the mean of the GPUs
  double cpu_sum = 0, all_cpu_sum = 0;      // sums of the samples since the last scan, and of all
  std::int64_t cpu_count = 0, all_cpu_count = 0;
  double worst = 0;              // greatest share of periods of a scan that fired
  std::optional<Time> from, to;  // first and last sample since the last scan
  std::optional<Time> last;      // sample
  bool fired = false;

  double Cores() const {
    return all_cpu_count == 0 ? 0 : all_cpu_sum / static_cast<double>(all_cpu_count) / 100;
  }
  template <typename State>
  void Fields(State& state) {
    state("throttled", throttled);
    state("gpu", gpu);
    state("cpu_sum", cpu_sum);
    state("cpu_count", cpu_count);
    state("all_cpu_sum", all_cpu_sum);
    state("all_cpu_count", all_cpu_count);
    state("worst", worst);
    state("from", from);
    state("to", to);
    state.Added("last", last);
    state("fired", fired);
  }
};

class QuotaFold : public DeviceFold<QuotaFold, Group> {
 public:
  QuotaFold(const Params& params, const JobFacts& facts)
      : DeviceFold(0, facts, {"group", "groups"}),
        threshold_(params["threshold"]),
        duration_s_(params["duration"]),
        gpu_threshold_(params["gpu_threshold"]),
        interval_(std::max<Duration>(facts.interval, 1ms)) {
    const double interval_s = ToSeconds(interval_);
    window_ = std::clamp(static_cast<std::int64_t>(duration_s_ / interval_s), kLeastSamples,
                         static_cast<std::int64_t>(SlidingPercentiles::kMostSamples));
    longest_ = std::max<std::int64_t>(kLongestSample / interval_, 1);
  }

  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("groups", devices_, [this] { return NewGroup(); });
    state("scans", scans_);
  }

 private:
  Group NewGroup() const {
    Group group;
    group.throttled = group.gpu = SlidingPercentiles(static_cast<std::size_t>(window_));
    return group;
  }
  // Whether the GPUs of the node are busy all the same.
  bool Harmless(const Group& group) const {
    return group.gpu.size() > 0 && group.gpu.Mean() > gpu_threshold_;
  }
  // Sum of the samples that were seen of the duration.
  double Sum(const Group& group) const {
    return group.throttled.Mean() * static_cast<double>(group.throttled.size());
  }
  // Whether the mean over the duration is above the threshold: before its end, whatever comes.
  bool IsOut(const Group& group) const {
    return Sum(group) > threshold_ * static_cast<double>(window_);
  }
  std::string Text(const Subject& subject, const Group& group, double percent, double cores) const;
  Time NextTrigger(Time at) const override;
  std::string Unjudged() const override;
  std::string Describe(const Subject& subject, const Group& group) const override;
  std::string ClearText() const override;
  Badness BadnessOf(const Subject&, const Group& group) const override {
    return {group.fired ? 1.0 : 0.0, group.worst, group.throttled.Mean()};
  }
  Json EvidenceOf(const Subject& subject, const Group& group) const override {
    return {{"triggers", scans_.Of(subject).triggers},
            {"throttled_percent", group.throttled.Mean()},
            {"worst_percent", group.worst},
            {"cores_used", group.Cores()}};
  }
  void Complete(Verdict& verdict) const override;

  double threshold_, duration_s_, gpu_threshold_;
  Duration interval_;
  std::int64_t window_ = 0, longest_ = 0;  // ticks
};

// The mean of the columns in a row; none when no device has a sample.
std::optional<double> MeanOf(const std::vector<DeviceColumn>& columns, std::size_t row) {
  double sum = 0;
  std::int64_t count = 0;
  for (const DeviceColumn& each : columns) {
    if (!each.Has(row)) continue;
    sum += each.column->At(row);
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

// `longest` ticks are the most that the sample may tell of.
void Add(Group& group, Time at, Duration interval, std::int64_t longest, std::uint32_t bin,
         std::optional<double> cpu, std::optional<double> gpu) {
  const std::int64_t since =
      group.last ? (at - *group.last + interval / 2) / interval : std::int64_t{1};
  const std::int64_t ticks = std::clamp(since, std::int64_t{1}, longest);
  for (std::int64_t tick = 0; tick < ticks; ++tick) {
    group.throttled.Add(bin);
    if (gpu) group.gpu.Add(PercentBin(*gpu));
  }
  group.last = at;
  if (!group.from) group.from = at;
  group.to = at;
  if (!cpu) return;
  group.cpu_sum += *cpu, ++group.cpu_count;
  group.all_cpu_sum += *cpu, ++group.all_cpu_count;
}

void QuotaFold::Observe(const TickView& ticks) {
  if (ticks.first == ticks.end) return;
  scans_.Saw(ticks.At(ticks.first));
  const auto groups = DevicesOf(ticks, kMetrics[0], [this] { return NewGroup(); });
  const auto cpu = ColumnsOf(ticks, kMetrics[1]), gpus = ColumnsOf(ticks, kMetrics[2]);
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    const auto tick = start_.Observe(ticks.node, at);
    if (tick == Initialisation::Tick::kNotJudged) continue;
    for (const auto& [group, column] : groups) {
      if (tick == Initialisation::Tick::kFirstAfterStep) *group = NewGroup();
      if (!column->Has(row)) continue;
      Add(*group, at, interval_, longest_, PercentBin(*column, row), MeanOf(cpu, row),
          MeanOf(gpus, row));
    }
  }
}

void QuotaFold::Scan(Time at) {
  scans_.Begin(at);
  for (auto& [subject, group] : devices_) {
    if (!group.to || !(group.throttled.full() || IsOut(group))) continue;
    const double percent = group.throttled.Mean();
    if (!IsOut(group) || Harmless(group)) {
      scans_.Clear(subject);
    } else {
      group.fired = true;
      group.worst = std::max(group.worst, percent);
      const double cores =
          group.cpu_count == 0 ? 0 : group.cpu_sum / static_cast<double>(group.cpu_count) / 100;
      scans_.Trigger({.from = *group.from,
                      .to = *group.to,
                      .subject = subject,
                      .sentence = Text(subject, group, percent, cores) + ".",
                      .evidence = {{"throttled_percent", percent}, {"cores_used", cores}}},
                     percent / 100, 2 * facts_.interval);
    }
    group.from.reset(), group.to.reset();
    group.cpu_sum = 0, group.cpu_count = 0;
  }
  scans_.End();
}

// The least time until the mean is above the threshold when all further samples are 100 %.
Time QuotaFold::NextTrigger(Time at) const {
  Time next = Time::max();
  for (const auto& [subject, group] : devices_) {
    if (Harmless(group)) continue;
    const double lacking = (threshold_ * static_cast<double>(window_) - Sum(group)) / 100;
    const std::int64_t ticks =
        std::max(static_cast<std::int64_t>(std::ceil(lacking)), std::int64_t{group.to ? 0 : 1});
    next = std::min(next, IsOut(group) && group.to
                              ? at
                              : After(at, std::max<std::int64_t>(ticks, 1), facts_.interval));
  }
  return next;
}

std::string QuotaFold::Text(const Subject& subject, const Group& group, double percent,
                            double cores) const {
  const std::string use = group.all_cpu_count == 0 ? "" : Format(" and used {:.2f} cores", cores);
  return Format(
      "The control group of node {} ran out of its quota of CPU time in {:.1f} % of its periods{}; "
      "the threshold is {:g} %",
      subject.node, percent, use, threshold_);
}

std::string QuotaFold::Describe(const Subject& subject, const Group& group) const {
  const double percent = group.fired ? group.worst : group.throttled.Mean();
  const std::string text = Text(subject, group, percent, group.Cores());
  return group.fired ? text + ": raise the limit or use fewer threads" : text;
}

std::string QuotaFold::ClearText() const {
  const auto& [subject, group] = Worst();
  if (!IsOut(group) || !Harmless(group)) return WorstText() + ".";
  return WorstText() + Format("; the GPUs were busy for {:.0f} % all the same.", group.gpu.Mean());
}

std::string QuotaFold::Unjudged() const {
  if (devices_.empty()) {
    return scans_.SawAny() ? "no control group tells of a quota of CPU time" : "no samples yet";
  }
  std::size_t seen = 0;
  for (const auto& [subject, group] : devices_) seen = std::max(seen, group.throttled.size());
  return Format("a control group was seen for {} of {} samples", seen, window_);
}

void QuotaFold::Complete(Verdict& verdict) const {
  if (verdict.kind != VerdictKind::kFinding) return;
  const bool much = std::ranges::any_of(
      devices_, [](const auto& each) { return each.second.fired && each.second.worst >= kMuch; });
  verdict.severity = much ? Severity::kHigh : Severity::kMedium;
}

}  // namespace

RuleType Throttled() {
  return {
      .name = "Throttled",
      .sentence = "A quota of CPU time, as of a container, holds the job down.",
      .fires =
          "Over duration, the control group of the job used up its quota in more than threshold of "
          "its scheduling periods, while the GPUs of its node, where it has any, were not busier "
          "than gpu_threshold.",
      .advice =
          "Raise the CPU limit of the container (docker --cpus, resources.limits.cpu), or use "
          "fewer "
          "threads: OMP_NUM_THREADS, torch.set_num_threads and loader workers that together are no "
          "more than the cores of the limit.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kFirst,
      .make = MakeFold<QuotaFold>,
  };
}

}  // namespace stepscope
