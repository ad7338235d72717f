// Sums up all rules, and says where the time went. A cause that it names is an issue, whether or
// not another rule looks for it.

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "core/base/text.h"
#include "rules/diagnosis/budget.h"
#include "rules/diagnosis/busy_cores.h"
#include "rules/diagnosis/diagnosis.h"
#include "rules/diagnosis/host_signs.h"
#include "rules/diagnosis/launch_bound.h"
#include "rules/diagnosis/missing.h"
#include "rules/diagnosis/node_sums.h"
#include "rules/engine/state.h"
#include "rules/ranks/late_rank.h"
#include "rules/signals/initialisation.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 10, 0, 100, "%", "Share of the time from which a cause is named a bottleneck."},
    {"price_per_gpu_hour", 0, 0, 100'000, "",
     "What an hour of one GPU costs, in any currency; 0 = costs are not told."},
};
// The length of the initialisation where no training process has connected.
constexpr Duration kPatience = 60s;

struct Rank {
  std::string node;
  bool begun = false;  // its first step, which compiles and starts workers, was left out
  StepSums steps;
  GpuIdleSums gpu;

  template <typename State>
  void Fields(State& state) {
    state("node", node);
    state("begun", begun);
    state("steps", steps);
    state("gpu", gpu);
  }
};

// What the late one of so many ranks cost.
LateTime LostTo(const LateRank::Found& late, std::size_t ranks) {
  const double own = late.lost / static_cast<double>(std::max<std::size_t>(ranks, 1));
  const bool is_known = late.outside || late.phase.has_value();
  return {late.lost - own, is_known ? own : 0, late.phase};
}

class ProfilerReportFold : public FieldsFold<ProfilerReportFold> {
 public:
  ProfilerReportFold(const Params& params, const JobFacts& facts)
      : threshold_(params["threshold"]),
        price_(params["price_per_gpu_hour"]),
        facts_(facts),
        tick_s_(std::chrono::duration<double>(facts.interval).count()),
        start_(kPatience / facts.interval, facts),
        late_(facts) {}

  void Observe(const StepView& steps) override;
  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;
  Verdict Judge() const override;

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("nodes", nodes_, [] { return NodeSums(); });
    state("ranks", ranks_, [] { return Rank(); });
    state("first_tick", first_tick_);
    state("last_tick", last_tick_);
    state("last_step", last_step_);
    state.Added("named", named_);
    state("late", late_);
  }

 private:
  HostSums LoopOf(const NodeSums& node) const;
  RankSums RanksOf(std::string_view node) const;
  HostSums& SumsAt(NodeSums& node, Time at);
  void AddTick(const HostSigns& signs, std::size_t row, NodeSums& node, HostSums& sums) const;
  JobParts Parts() const;
  Diagnosis Diagnose() const;
  void Divide(Diagnosis& diagnosis) const;

  double threshold_, price_;
  JobFacts facts_;
  double tick_s_;

  Initialisation start_;
  LateRank late_;
  std::map<std::string, NodeSums, std::less<>> nodes_;
  std::map<int, Rank, std::less<>> ranks_;
  std::optional<Time> first_tick_, last_tick_, last_step_;  // the ends of all steps
  std::optional<Time> named_;                               // the scan since which a cause is named
};

void ProfilerReportFold::Observe(const StepView& steps) {
  start_.Observe(steps);
  late_.Observe(steps);
  if (steps.steps.empty()) return;
  Rank& rank = ranks_[steps.rank];
  rank.node = steps.node;
  for (const Step& step : steps.steps) {
    last_step_ = std::max(last_step_.value_or(EndedAt(step)), EndedAt(step));
    if (!std::exchange(rank.begun, true)) continue;
    rank.steps.Add(step);
    rank.gpu.Add(step);
  }
}

// Ticks behind the newest step become those of the loop as soon as a step has ended after them.
HostSums& ProfilerReportFold::SumsAt(NodeSums& node, Time at) {
  if (node.newest && last_step_ && *node.newest <= *last_step_) node.TakeBehind();
  if (!last_step_ || at <= *last_step_) return node.loop;
  node.newest = at;
  return node.behind;
}

void ProfilerReportFold::AddTick(const HostSigns& signs, std::size_t row, NodeSums& node,
                                 HostSums& sums) const {
  const Cause shown = signs.Shown(row, node.seldom);
  sums.host[shown] += tick_s_;
  node.gpus = node.gpus || !signs.gpus().empty();
  signs.AddMeans(row, sums);
  for (const Column* gpu : signs.gpus()) {
    if (!gpu->Has(row)) continue;
    const double busy = Coarse(std::clamp(gpu->At(row) / 100, 0.0, 1.0)) * tick_s_;
    sums.busy += busy;
    sums.idle[shown] += tick_s_ - busy;
  }
}

void ProfilerReportFold::Observe(const TickView& ticks) {
  late_.Observe(ticks);
  NodeSums& node = nodes_[std::string(ticks.node)];
  const HostSigns signs(ticks);
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    first_tick_ = std::min(first_tick_.value_or(at), at);
    last_tick_ = std::max(last_tick_.value_or(at), at);
    const bool loop = start_.Observe(ticks.node, at) != Initialisation::Tick::kNotJudged;
    const auto& stepped = start_.first_step_end();
    if (!node.stepped && stepped && at >= *stepped) node.StepEnded();
    HostSums start;  // what the start showed is not told
    AddTick(signs, row, node, loop ? SumsAt(node, at) : start);
  }
}

HostSums ProfilerReportFold::LoopOf(const NodeSums& node) const {
  HostSums sums = node.loop;
  if (node.newest && last_step_ && *node.newest <= *last_step_) sums.Add(node.behind);
  return sums;
}

RankSums ProfilerReportFold::RanksOf(std::string_view node) const {
  RankSums sums;
  for (const auto& [number, rank] : ranks_) {
    if (rank.node != node) continue;
    sums.steps.Add(rank.steps);
    sums.gpu.Add(rank.gpu);
    ++sums.ranks;
  }
  return sums;
}

// The time is of GPUs where there are any, else of steps.
void ProfilerReportFold::Divide(Diagnosis& diagnosis) const {
  bool known = !ranks_.empty();
  for (const auto& [name, node] : nodes_) {
    const RankSums ranks = RanksOf(name);
    diagnosis.budget.Add(GpuBudget(LoopOf(node), ranks));
    known = known && (ranks.ranks == 0 || KnowsGpuClock(ranks));
  }
  for (const auto& [number, rank] : ranks_) diagnosis.steps.Add(rank.steps);
  diagnosis.gpus = diagnosis.budget.Total() > 0;
  diagnosis.gpu_clock = diagnosis.gpus && known;
  if (diagnosis.gpus) return;
  const bool exchanges =
      ranks_.size() > 1 && std::ranges::any_of(facts_.ranks, &RankFacts::hides_communication);
  for (const auto& [number, rank] : ranks_) {
    const auto node = nodes_.find(rank.node);
    diagnosis.budget.Add(StepBudget(node == nodes_.end() ? HostSums() : LoopOf(node->second),
                                    rank.steps, exchanges));
  }
}

// Evaluations lie between the steps, and within the time from the first to the last of them.
JobParts ProfilerReportFold::Parts() const {
  JobParts parts;
  const auto& first = start_.first_step_end();
  if (!first || !last_step_ || !first_tick_) return parts;
  for (const auto& [number, rank] : ranks_) {
    parts.evaluation = std::max(parts.evaluation, rank.steps.evaluation());
  }
  const auto between = [](Time from, Time to) { return std::max(to - from, Duration::zero()); };
  parts.initialisation = between(*first_tick_, *first);
  parts.training = between(*first, *last_step_);
  parts.finalisation = between(*last_step_, *last_tick_);
  parts.evaluation = std::min(parts.evaluation, parts.training);
  parts.training -= parts.evaluation;
  return parts;
}

// What the time went to.
Diagnosis ProfilerReportFold::Diagnose() const {
  Diagnosis diagnosis;
  diagnosis.threshold = threshold_;
  Divide(diagnosis);
  diagnosis.windows = SumWindows(facts_.windows, MeanStepSeconds(diagnosis.steps));
  if (diagnosis.gpus) TakeWindows(diagnosis.windows, diagnosis.gpu_clock, diagnosis.budget);
  diagnosis.of_windows = nodes_.empty() && ranks_.empty() && diagnosis.windows.any();
  if (diagnosis.of_windows) {
    diagnosis.budget = BudgetOf(diagnosis.windows);
    diagnosis.gpus = diagnosis.windows.sum.of_device;
  }
  if (const auto late = late_.Find()) {
    MoveToLateRank(diagnosis.budget, LostTo(*late, ranks_.size()));
    diagnosis.late = Format("waits for rank {}, which is late (mostly {})", late->rank, late->what);
  }
  return diagnosis;
}

// The issue begins with a scan: a verdict between two of them depends on when somebody asked.
void ProfilerReportFold::Scan(Time at) {
  late_.Scan(at);
  const Diagnosis diagnosis = Diagnose();
  const bool names = diagnosis.IsEnough() && diagnosis.Bottleneck();
  if (!names) named_.reset();
  if (names && !named_) named_ = at;
}

Verdict ProfilerReportFold::Judge() const {
  Diagnosis diagnosis = Diagnose();
  const double total = diagnosis.budget.Total();
  const bool gpus = std::ranges::any_of(nodes_, [](const auto& each) { return each.second.gpus; });
  if (total <= 0 && ranks_.empty() && !gpus) {
    return Unknown("no GPU and no steps seen: there is no time to divide up");
  }
  if (!diagnosis.IsEnough()) {
    return Unknown(
        Format("{:.1f} of {:g} s seen after the start of the job", total, kLeastDivided));
  }
  diagnosis.ranks = ranks_.size();
  diagnosis.nodes = nodes_.size();
  diagnosis.parts = Parts();
  diagnosis.missing =
      WhatIsMissing(facts_, !ranks_.empty(), diagnosis.gpus && !diagnosis.gpu_clock);
  if (diagnosis.of_windows) diagnosis.missing.emplace_back(kProfilerCosts);
  diagnosis.in_part = AreStepsSeenInPart(facts_);
  diagnosis.price = diagnosis.of_windows ? 0 : price_;
  BusyCores cores;
  for (const NodeFacts& facts : facts_.nodes) {
    const auto node = nodes_.find(facts.name);
    cores.Add(facts, node == nodes_.end() ? HostSums() : LoopOf(node->second),
              RanksOf(facts.name).ranks);
  }
  diagnosis.cores_busy = cores.Part();
  Verdict verdict;
  // Windows without anything else are in no scan.
  const bool names = (named_ || diagnosis.of_windows) && diagnosis.Bottleneck();
  verdict.kind = names ? VerdictKind::kFinding : VerdictKind::kClear;
  if (verdict.kind == VerdictKind::kFinding) verdict.fired = named_;
  verdict.sentence = diagnosis.Sentence();
  const std::vector<Cause> ranked = diagnosis.Ranked();
  if (!ranked.empty()) verdict.severity = SeverityOfLoss(diagnosis.budget[ranked[0]] / total);
  verdict.evidence = diagnosis.Evidence();
  return verdict;
}

}  // namespace

RuleType ProfilerReport() {
  return {
      .name = "ProfilerReport",
      .sentence = "Where the time of the job went, and which rules found issues.",
      .fires =
          "Another rule of the job fires, or more than threshold of the time was lost to one "
          "cause. It divides the time of the job by what it was lost to, and ranks the causes. "
          "Time that nothing explains may be no loss, and is no issue.",
      .advice = "Follow the advice of the first cause: it has the largest gain.",
      .params = kParams,
      .metrics = HostSigns::Metrics(),
      .steps = StepNeed::kAll,
      .make = MakeFold<ProfilerReportFold>,
      .sums_up = true,
  };
}

}  // namespace stepscope
