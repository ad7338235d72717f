// Heat or a power limit holds a busy GPU's clocks down.

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
    {"threshold", 10, 0, 100, "%",
     "Share of a GPU's busy samples in which its clocks were held down from which it fires."},
};
constexpr std::string_view kMetrics[] = {"gpu_util_percent", "gpu_power_throttle_percent",
                                         "gpu_thermal_throttle_percent"};
constexpr double kBusyPercent = 10;
// A share of fewer samples means nothing, and an early trigger needs more.
constexpr std::int64_t kLeastBusy = 60, kLeastLookedAt = 120;

// Counts of busy samples, and of busy samples with clocks held down.
struct Counts {
  std::int64_t busy = 0, power = 0, thermal = 0, either = 0;

  void Add(bool by_power, bool by_heat) {
    ++busy;
    power += by_power ? 1 : 0;
    thermal += by_heat ? 1 : 0;
    either += by_power || by_heat ? 1 : 0;
  }
  double Percent(std::int64_t part) const {
    return busy == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(busy);
  }
  template <typename State>
  void Fields(State& state) {
    state("busy", busy);
    state("power", power);
    state("thermal", thermal);
    state("either", either);
  }
};

struct Gpu {
  Counts all, recent;            // counts of the job; since the last scan that judged
  std::optional<Time> from, to;  // first and last busy sample of the recent ones
  bool fired = false;

  template <typename State>
  void Fields(State& state) {
    state("all", all);
    state("recent", recent);
    state("from", from);
    state("to", to);
    state("fired", fired);
  }
};

class ThrottleFold : public DeviceFold<ThrottleFold, Gpu> {
 public:
  ThrottleFold(const Params& params, const JobFacts& facts)
      : DeviceFold(0, facts), threshold_(params["threshold"]) {}

  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("gpus", devices_, [] { return Gpu(); });
    state("scans", scans_);
  }

 private:
  void ScanGpu(const Subject& subject, Gpu& gpu);
  std::string HeldDown(const Subject& subject, const Counts& counts) const;
  Time NextTrigger(Time at) const override;
  std::string Unjudged() const override;
  std::string Describe(const Subject& subject, const Gpu& gpu) const override {
    return HeldDown(subject, gpu.all);
  }
  std::string ClearText() const override { return WorstText() + "."; }
  Badness BadnessOf(const Subject&, const Gpu& gpu) const override {
    return {gpu.fired ? 1.0 : 0.0, gpu.all.Percent(gpu.all.either)};
  }
  Json EvidenceOf(const Subject&, const Gpu& gpu) const override {
    return {{"busy", gpu.all.busy},
            {"power_percent", gpu.all.Percent(gpu.all.power)},
            {"thermal_percent", gpu.all.Percent(gpu.all.thermal)}};
  }
  void Complete(Verdict& verdict) const override;

  double threshold_;
};

// The columns of a GPU in a table.
struct ThrottleColumns {
  Gpu* gpu = nullptr;
  const Column* use = nullptr;
  const Column* power = nullptr;
  const Column* heat = nullptr;
};

const Column* Find(const std::vector<DeviceColumn>& columns, const std::string& device) {
  const auto found = std::ranges::find(columns, device, &DeviceColumn::device);
  return found == columns.end() ? nullptr : found->column;
}

void Add(const ThrottleColumns& from, std::size_t row, Time at) {
  const auto has = [row](const Column* column) { return column != nullptr && column->Has(row); };
  const auto holds = [&](const Column* column) { return has(column) && column->values[row] > 0; };
  if (!has(from.use) || BinPercent(PercentBin(*from.use, row)) <= kBusyPercent) return;
  if (!has(from.power) && !has(from.heat)) return;
  for (Counts* counts : {&from.gpu->all, &from.gpu->recent}) {
    counts->Add(holds(from.power), holds(from.heat));
  }
  if (!from.gpu->from) from.gpu->from = at;
  from.gpu->to = at;
}

void ThrottleFold::Observe(const TickView& ticks) {
  if (ticks.first == ticks.end) return;
  scans_.Saw(ticks.At(ticks.first));
  const auto power = ColumnsOf(ticks, kMetrics[1]), heat = ColumnsOf(ticks, kMetrics[2]);
  std::vector<ThrottleColumns> sources;
  for (const DeviceColumn& use : ColumnsOf(ticks, kMetrics[0])) {
    const ThrottleColumns source{nullptr, use.column, Find(power, use.device),
                                 Find(heat, use.device)};
    if (source.power == nullptr && source.heat == nullptr) continue;
    sources.push_back(source);
    sources.back().gpu = &devices_[{std::string(ticks.node), use.device}];
  }
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    const auto tick = start_.Observe(ticks.node, at);
    if (tick == Initialisation::Tick::kNotJudged) continue;
    for (const ThrottleColumns& source : sources) {
      if (tick == Initialisation::Tick::kFirstAfterStep) *source.gpu = Gpu();
      Add(source, row, at);
    }
  }
}

void ThrottleFold::Scan(Time at) {
  scans_.Begin(at);
  for (auto& [subject, gpu] : devices_) {
    if (gpu.all.busy < kLeastBusy || gpu.recent.busy == 0) continue;
    ScanGpu(subject, gpu);
    gpu.recent = {};
    gpu.from.reset();
  }
  scans_.End();
}

Time ThrottleFold::NextTrigger(Time at) const {
  Time next = Time::max();
  for (const auto& [subject, gpu] : devices_) {
    const auto lacking = TicksToExceed(threshold_ / 100, gpu.all.either, gpu.all.busy);
    if (!lacking) continue;
    const std::int64_t ticks = std::max({*lacking, kLeastLookedAt - gpu.all.busy,
                                         static_cast<std::int64_t>(gpu.recent.busy > 0 ? 0 : 1)});
    next = std::min(next, After(at, ticks, facts_.interval));
  }
  return next;
}

void ThrottleFold::ScanGpu(const Subject& subject, Gpu& gpu) {
  gpu.fired = gpu.fired || gpu.all.Percent(gpu.all.either) > threshold_;
  if (!gpu.fired || gpu.recent.Percent(gpu.recent.either) <= threshold_) {
    return scans_.Clear(subject);
  }
  scans_.Trigger({.from = *gpu.from,
                  .to = *gpu.to,
                  .subject = subject,
                  .sentence = HeldDown(subject, gpu.recent) + ".",
                  .evidence = {{"busy", gpu.recent.busy},
                               {"power_percent", gpu.recent.Percent(gpu.recent.power)},
                               {"thermal_percent", gpu.recent.Percent(gpu.recent.thermal)}}},
                 0, 2 * facts_.interval);
}

std::string ThrottleFold::HeldDown(const Subject& subject, const Counts& counts) const {
  return Format(
      "{} was held down in {:.1f} % of {} in which it was busy, by its power limit in {:.1f} %, by "
      "heat in {:.1f} %; the threshold is {:g} %",
      GpuText(subject), counts.Percent(counts.either), SamplesText(counts.busy, facts_.interval),
      counts.Percent(counts.power), counts.Percent(counts.thermal), threshold_);
}

std::string ThrottleFold::Unjudged() const {
  const std::string reason = WithoutSamples(kMetrics[1]);
  if (!reason.empty()) return reason;
  std::int64_t busy = 0;
  for (const auto& [subject, gpu] : devices_) busy = std::max(busy, gpu.all.busy);
  return Format("{} of {} samples of a busy GPU seen", busy, kLeastBusy);
}

// The samples in which a GPU that fired was held down, as a part of the busy samples of all GPUs.
// At its power limit a GPU may do all it can; heat is a defect.
void ThrottleFold::Complete(Verdict& verdict) const {
  if (verdict.kind != VerdictKind::kFinding) return;
  verdict.share = ShareOf([](const Subject&, const Gpu& gpu) {
    return std::pair(gpu.fired ? gpu.all.either : 0, gpu.all.busy);
  });
  const bool hot = std::ranges::any_of(devices_, [this](const auto& each) {
    return each.second.all.Percent(each.second.all.thermal) > threshold_;
  });
  verdict.severity = hot ? Severity::kMedium : Severity::kLow;
}

}  // namespace

RuleType GpuThrottled() {
  return {
      .name = "GPUThrottled",
      .sentence = "Heat or a power limit holds a busy GPU's clocks down.",
      .fires =
          "Since the last scan, heat or a power limit held the clocks of a busy GPU down in more "
          "than threshold of its samples.",
      .advice =
          "Heat: look at fans, air flow and the temperature of the room. Power: raise the power "
          "limit if the machine allows it; a GPU at its limit under full load is working as well "
          "as it may.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kFirst,
      .make = MakeFold<ThrottleFold>,
  };
}

}  // namespace stepscope
