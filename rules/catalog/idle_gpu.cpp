// A GPU of the job is never used.

#include <algorithm>
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
    {"threshold", 1, 0, 100, "%", "A GPU that is never above this is not used."},
    {"minutes", 10, 1, 10'000, "minutes",
     "How long it must not have been used, since any GPU of the job was or the first step ended."},
};
constexpr std::string_view kMetrics[] = {"gpu_util_percent"};

struct Gpu {
  std::optional<Time> from, last;  // first and newest sample that counts
  std::optional<Time> used;        // first sample above the threshold
  bool fresh = false;              // samples came since the last scan
  double idle_s = 0;               // idle time at the last trigger
  double judged_s = 0;             // judged time at the last scan

  template <typename State>
  void Fields(State& state) {
    state("from", from);
    state("last", last);
    state("used", used);
    state("fresh", fresh);
    state("idle_s", idle_s);
    state("judged_s", judged_s);
  }
};

Duration LeastOf(const Params& params) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double>(params["minutes"] * 60));
}

class IdleFold : public DeviceFold<IdleFold, Gpu> {
 public:
  IdleFold(const Params& params, const JobFacts& facts)
      : DeviceFold(LeastOf(params) / std::max(facts.interval, Duration(1ms)), facts),
        threshold_(params["threshold"]),
        least_(LeastOf(params)) {}

  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("gpus", devices_, [] { return Gpu(); });
    state("first", first_);
    state("scans", scans_);
  }

 private:
  Time Began() const;
  Time NextTrigger(Time at) const override;
  std::string Unjudged() const override;
  std::string Describe(const Subject& subject, const Gpu& gpu) const override;
  std::string ClearText() const override;
  Badness BadnessOf(const Subject&, const Gpu& gpu) const override { return {gpu.idle_s}; }
  bool IsListed(const Subject&, const Gpu& gpu) const override { return gpu.idle_s > 0; }
  Json EvidenceOf(const Subject&, const Gpu& gpu) const override {
    return {{"idle_seconds", gpu.idle_s}, {"used_later", gpu.used.has_value()}};
  }
  void Complete(Verdict& verdict) const override;
  std::string Advice() const;

  double threshold_;
  Duration least_;

  std::optional<Time> first_;  // first tick of the job
};

void IdleFold::Observe(const TickView& ticks) {
  if (ticks.first == ticks.end) return;
  first_ = std::min(first_.value_or(ticks.At(ticks.first)), ticks.At(ticks.first));
  scans_.Saw(ticks.At(ticks.first));
  const auto gpus = DevicesOf(ticks, kMetrics[0], [] { return Gpu(); });
  const std::uint32_t bin = PercentBin(threshold_);
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    const bool restart = start_.Observe(ticks.node, at) == Initialisation::Tick::kFirstAfterStep;
    for (const auto& [gpu, column] : gpus) {
      if (restart) gpu->from.reset(), gpu->used.reset();
      if (!column->Has(row)) continue;
      if (!gpu->from) gpu->from = at;
      gpu->last = at;
      gpu->fresh = true;
      if (!gpu->used && PercentBin(*column, row) > bin) gpu->used = at;
    }
  }
}

// The time from which on a GPU could have been used: another GPU was. A job that uses none has as
// much time as for its first step.
Time IdleFold::Began() const {
  std::optional<Time> used;
  for (const auto& [subject, gpu] : devices_) {
    if (gpu.used) used = std::min(used.value_or(*gpu.used), *gpu.used);
  }
  return used.value_or(*first_ + Initialisation::kLongestWait);
}

void IdleFold::Scan(Time at) {
  if (!first_) return;
  const Time began = Began();
  scans_.Begin(at);
  for (auto& [subject, gpu] : devices_) {
    if (!std::exchange(gpu.fresh, false) || !gpu.from || !start_.IsOver(subject.node)) continue;
    gpu.judged_s = ToSeconds(*gpu.last - *gpu.from);
    if (gpu.used) {
      scans_.Clear(subject);
      continue;
    }
    const Time from = std::max(*gpu.from, began), to = *gpu.last;
    if (to - from < least_) continue;
    gpu.idle_s = std::chrono::duration<double>(to - from).count();
    scans_.Trigger({.from = from,
                    .to = to,
                    .subject = subject,
                    .sentence = Describe(subject, gpu) + ".",
                    .evidence = {{"idle_seconds", gpu.idle_s}, {"threshold", threshold_}}},
                   1);
  }
  scans_.End();
}

Time IdleFold::NextTrigger(Time at) const {
  if (!first_) return Time::max();
  Time next = Time::max();
  const Time began = Began();
  for (const auto& [subject, gpu] : devices_) {
    if (gpu.used || !gpu.from) continue;
    if (!start_.IsOver(subject.node)) return After(at, 1, facts_.interval);
    const Duration lacking = least_ - (*gpu.last - std::max(*gpu.from, began));
    if (lacking <= Duration::zero() && gpu.fresh) return at;
    next = std::min(next, at + std::max(lacking, Duration::zero()));
  }
  return next;
}

std::string IdleFold::Describe(const Subject& subject, const Gpu& gpu) const {
  return Format(
      "{} was never above {:g} % in {}", GpuText(subject), threshold_,
      LengthText(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(gpu.idle_s))));
}

std::string IdleFold::Unjudged() const {
  const std::string reason = WithoutSamples(kMetrics[0]);
  if (!reason.empty()) return reason;
  Duration longest{};
  const Time began = first_ ? Began() : Time{};
  for (const auto& [subject, gpu] : devices_) {
    if (gpu.from) longest = std::max(longest, *gpu.last - std::max(*gpu.from, began));
  }
  return Format("{} of {} seen in which a GPU could be used", LengthText(longest),
                LengthText(least_));
}

std::string IdleFold::ClearText() const {
  return Format("{} of {} were above {:g} %; none was idle for {}.", scans_.devices(),
                CountText(std::ssize(devices_), "GPU"), threshold_, LengthText(least_));
}

// What to do about the GPUs without work, by their names; empty where all of them are without, or
// were used later.
std::string IdleFold::Advice() const {
  constexpr std::size_t kMostTold = 3;
  std::vector<std::string> idle;
  for (const auto& [subject, gpu] : devices_) {
    if (gpu.idle_s > 0 && !gpu.used) idle.push_back(GpuText(subject));
  }
  if (idle.empty() || idle.size() == devices_.size()) return "";
  if (idle.size() == 1) {
    return Format(
        "Give {} work: start a rank for it, and see that its process may use it "
        "(CUDA_VISIBLE_DEVICES); or ask for one GPU fewer.",
        idle[0]);
  }
  std::string names;
  const std::size_t told = std::min(idle.size(), kMostTold);
  for (std::size_t i = 0; i < told; ++i) {
    const bool last = i + 1 == idle.size();
    names += (i == 0 ? "" : last ? " and " : ", ") + idle[i];
  }
  if (idle.size() > told) names += Format(" and {} more", idle.size() - told);
  return Format(
      "Give {} work: start a rank for each, and see that the processes may use them "
      "(CUDA_VISIBLE_DEVICES); or ask for {} GPUs fewer.",
      names, idle.size());
}

// The time in which a GPU that fired was idle, as a part of the time in which all GPUs were seen.
void IdleFold::Complete(Verdict& verdict) const {
  if (verdict.kind != VerdictKind::kFinding) return;
  verdict.share =
      ShareOf([](const Subject&, const Gpu& gpu) { return std::pair(gpu.idle_s, gpu.judged_s); });
  if (std::string advice = Advice(); !advice.empty()) verdict.evidence["advice"] = advice;
}

}  // namespace

RuleType IdleGpu() {
  return {
      .name = "IdleGPU",
      .sentence = "A GPU of the job is never used.",
      .fires = "A GPU of the job is not above threshold in any sample of the last minutes.",
      .advice =
          "Start a rank for each GPU, check which GPUs the processes may see, or ask for fewer "
          "GPUs.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kFirst,
      .make = MakeFold<IdleFold>,
  };
}

}  // namespace stepscope
