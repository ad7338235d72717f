// The GPUs of a job do not share its work evenly.

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "rules/engine/next_check.h"
#include "rules/engine/scan_time.h"
#include "rules/engine/sentence.h"
#include "rules/signals/device_scans.h"
#include "rules/signals/workloads.h"
#include "rules/stats/columns.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 0.2, 0, 1, "",
     "Distance between the use of two GPUs from which it fires: 0.2 is 20 points apart."},
    kPatience,
};
constexpr std::string_view kMetrics[] = {"gpu_util_percent"};
// A distribution of fewer means nothing, and an early trigger needs more.
constexpr std::uint64_t kLeastSamples = 60, kLeastLookedAt = 120;
constexpr std::size_t kMostShown = 64;  // GPUs, and pairs, in the evidence

struct Gpu {
  Workload all, recent;  // use in the job; since the last judgement of recent samples
  bool fresh = false;    // samples came since the last scan

  template <typename State>
  void Fields(State& state) {
    state("all", all);
    state("recent", recent);
    state("fresh", fresh);
  }
};

class BalanceFold : public FieldsFold<BalanceFold> {
 public:
  BalanceFold(const Params& params, const JobFacts& facts)
      : facts_(facts), threshold_(params["threshold"]), start_(params.Samples("patience"), facts) {}

  void Observe(const StepView& steps) override { start_.Observe(steps); }
  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;
  Time NextCheck(Time at) const override;
  void ScanEarly(Time at) override {
    Scan(at);
    early_ = true;
  }
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("findings", findings_);
    state("gpus", gpus_, [] { return Gpu(); });
    state("time", time_);
    state("scans", scans_);
    state("triggers", triggers_);
    state("from", from_);
    state("fired", fired_);
    state("active", active_);
    state("early", early_);
  }

 private:
  std::vector<GpuPair> Pairs(Workload Gpu::*which) const;
  void JudgeRecent();
  std::string Describe(const std::vector<GpuPair>& pairs) const;
  std::string Unjudged() const;
  Json Evidence(const std::vector<GpuPair>& pairs) const;
  std::vector<Subject> NeverWorked() const;

  JobFacts facts_;
  double threshold_;

  Initialisation start_;
  FindingTrack findings_;
  std::map<Subject, Gpu, std::less<>> gpus_;
  ScanTime time_;
  std::int64_t scans_ = 0, triggers_ = 0;  // scans that judged; scans in which it fired
  std::optional<Time> from_, fired_;       // last scan, or first judged sample; first trigger
  bool active_ = false;
  bool early_ = false;  // the last scan was early: the next one is counted already
};

void BalanceFold::Observe(const TickView& ticks) {
  if (ticks.first == ticks.end) return;
  std::vector<std::pair<Gpu*, const Column*>> gpus;
  for (const DeviceColumn& each : ColumnsOf(ticks, kMetrics[0])) {
    gpus.emplace_back(&gpus_[{std::string(ticks.node), each.device}], each.column);
  }
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    if (start_.Observe(ticks.node, at) == Initialisation::Tick::kNotJudged) continue;
    for (auto& [gpu, column] : gpus) {
      if (!column->Has(row)) continue;
      if (!from_ || at < *from_) from_ = at;
      time_.Saw(at);
      const std::uint32_t bin = PercentBin(*column, row);
      gpu->all.Add(bin);
      gpu->recent.Add(bin);
      gpu->fresh = true;
    }
  }
}

// Pairs of GPUs with enough samples, the furthest apart first.
std::vector<GpuPair> BalanceFold::Pairs(Workload Gpu::*which) const {
  std::vector<std::pair<Subject, const Workload*>> workloads;
  for (const auto& [subject, gpu] : gpus_) {
    if ((gpu.*which).total() >= kLeastSamples) workloads.emplace_back(subject, &(gpu.*which));
  }
  return PairsOf(workloads);
}

void BalanceFold::Scan(Time at) {
  const bool fresh = std::ranges::any_of(gpus_, [](const auto& gpu) { return gpu.second.fresh; });
  const auto pairs = fresh ? Pairs(&Gpu::all) : std::vector<GpuPair>();
  for (auto& [subject, gpu] : gpus_) gpu.fresh = false;
  const bool counts = !std::exchange(early_, false);
  if (!pairs.empty()) {
    if (counts) ++scans_;
    time_.Begin(at);
    JudgeRecent();
    if (pairs[0].distance <= threshold_) {
      time_.Clear();
    } else {
      time_.Trigger(0);
      if (counts) ++triggers_;
      if (!fired_) fired_ = at, active_ = true;
      findings_.Trigger({}, *from_, at, Describe(pairs),
                        {{"distance", pairs[0].distance}, {"threshold", threshold_}});
    }
    from_ = at;
  }
}

// The distance between two GPUs is at least that of their means: the area between two cumulative
// distributions is not less than the difference of the areas below them.
Time BalanceFold::NextCheck(Time at) const {
  if (fired_) return Time::max();
  double least = 100, most = 0;
  for (const auto& [subject, gpu] : gpus_) {
    if (gpu.all.total() < kLeastLookedAt || !gpu.fresh) continue;
    least = std::min(least, gpu.all.Mean());
    most = std::max(most, gpu.all.Mean());
  }
  return (most - least) / 100 > threshold_ ? at : After(at, 1, facts_.interval);
}

// Judges recent samples once the GPUs have enough; until then the last judgement holds.
void BalanceFold::JudgeRecent() {
  const auto pairs = Pairs(&Gpu::recent);
  if (pairs.empty()) return;
  active_ = fired_ && pairs[0].distance > threshold_;
  for (auto& [subject, gpu] : gpus_) gpu.recent = {};
}

std::vector<Subject> BalanceFold::NeverWorked() const {
  std::vector<Subject> idle;
  for (const auto& [subject, gpu] : gpus_) {
    if (gpu.all.total() >= kLeastSamples && gpu.all.NeverWorked()) idle.push_back(subject);
  }
  return idle;
}

std::string BalanceFold::Describe(const std::vector<GpuPair>& pairs) const {
  const GpuPair& far = pairs[0];
  std::string text = Format(
      "The use of {} (mean {:.1f} %) and {} (mean {:.1f} %) is {:.2f} apart; the threshold is "
      "{:g}.",
      GpuText(far.less), gpus_.at(far.less).all.Mean(), GpuText(far.more),
      gpus_.at(far.more).all.Mean(), far.distance, threshold_);
  const auto idle = NeverWorked();
  if (!idle.empty()) {
    text +=
        Format(" {} of {} never worked: {}{}.", idle.size(), CountText(std::ssize(gpus_), "GPU"),
               GpuText(idle[0]), idle.size() > 1 ? " and others" : "");
  }
  return text;
}

Json BalanceFold::Evidence(const std::vector<GpuPair>& pairs) const {
  Json shown = Json::array(), gpus = Json::array(), idle = Json::array();
  const auto named = [](const Subject& gpu) {
    return Json{{"node", gpu.node}, {"device", gpu.device}};
  };
  for (const GpuPair& pair : pairs) {
    if (shown.size() == kMostShown || pair.distance <= threshold_) break;
    shown.push_back(
        {{"less", named(pair.less)}, {"more", named(pair.more)}, {"distance", pair.distance}});
  }
  for (const auto& [subject, gpu] : gpus_) {
    if (gpus.size() == kMostShown) break;
    Json row = named(subject);
    row["samples"] = gpu.all.total();
    row["mean_percent"] = gpu.all.Mean();
    gpus.push_back(std::move(row));
  }
  for (const Subject& subject : NeverWorked()) {
    if (idle.size() < kMostShown) idle.push_back(named(subject));
  }
  Json evidence = {{"scans", scans_},
                   {"triggers", triggers_},
                   {"findings_left_out", findings_.left_out()},
                   {"pairs", std::move(shown)},
                   {"gpus", std::move(gpus)},
                   {"never_worked", std::move(idle)}};
  return evidence;
}

std::string BalanceFold::Unjudged() const {
  std::vector<Subject> gpus;
  std::size_t enough = 0;
  for (const auto& [subject, gpu] : gpus_) {
    gpus.push_back(subject);
    enough += gpu.all.total() >= kLeastSamples ? 1 : 0;
  }
  const std::string reason = WithoutSamples(facts_, start_, gpus, kMetrics[0]);
  if (!reason.empty()) return reason;
  if (gpus.size() == 1) return "the job has 1 GPU: there is nothing to balance";
  return Format("{} of {} have {} samples since the initialisation", enough,
                CountText(std::ssize(gpus), "GPU"), kLeastSamples);
}

Verdict BalanceFold::Judge() const {
  if (scans_ == 0) return Unknown(Unjudged());
  Verdict verdict;
  const auto pairs = Pairs(&Gpu::all);
  verdict.kind = fired_ ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.sentence = Describe(pairs);
  if (fired_) {
    verdict.share = time_.Share();
    double sum = 0, most = 0;
    for (const auto& [subject, gpu] : gpus_) {
      sum += gpu.all.Mean();
      most = std::max(most, gpu.all.Mean());
    }
    // The busiest GPU's use is what the others could have had.
    verdict.severity =
        SeverityOfLoss((most - sum / static_cast<double>(gpus_.size())) / 100 * verdict.share);
    verdict.active = active_;
    verdict.fired = fired_;
    verdict.sentence += Format(" It fired {} in {}{}.", CountText(triggers_, "time"),
                               CountText(scans_, "scan"), active_ ? "" : ", not in the newest");
  }
  verdict.evidence = Evidence(pairs);
  return verdict;
}

}  // namespace

RuleType LoadBalancing() {
  return {
      .name = "LoadBalancing",
      .sentence = "The GPUs of the job do not share its work evenly.",
      .fires =
          "The histograms of use of two GPUs of the job lie further apart than threshold: the area "
          "between their cumulative distributions, where 0.2 is 20 points of use.",
      .advice =
          "Give every GPU a rank and the same work: batches of equal size and length, stages of "
          "equal cost; look for slower nodes, or use another strategy to distribute the training.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kFirst,
      .make = MakeFold<BalanceFold>,
  };
}

}  // namespace stepscope
