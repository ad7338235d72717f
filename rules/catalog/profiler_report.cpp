// Sums up all rules, and says where the time went.

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "rules/engine/state.h"
#include "rules/signals/budget.h"
#include "rules/signals/host_signs.h"
#include "rules/signals/initialisation.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 10, 0, 100, "%", "Share of the time from which a cause is named a bottleneck."},
    {"price_per_gpu_hour", 0, 0, 100'000, "",
     "What an hour of one GPU costs, in any currency; 0 = costs are not told."},
};
// Fewer steps, or less of a minute, say little.
constexpr std::int64_t kLeastSteps = 20;
constexpr double kLeastSeconds = 10;
constexpr double kHour = 3600;
// The length of the initialisation where no training process has connected.
constexpr Duration kPatience = 60s;

struct Node {
  HostSums start, loop;  // before and after the first step ended
  double link = 0;       // bytes a second of the fastest interface, once known
  bool stepped = false;  // a tick after the first step was seen

  // The patience was over before the first step ended: ticks that were counted for the loop belong
  // to the start.
  void StepEnded() {
    stepped = true;
    start.busy += loop.busy;
    start.idle[Cause::kInitialisation] += loop.idle.Total();
    loop = {};
  }

  template <typename State>
  void Fields(State& state) {
    state("start", start);
    state("loop", loop);
    state("stepped", stepped);
    state("link", link);
  }
};

struct Rank {
  std::string node;
  StepSums steps;

  template <typename State>
  void Fields(State& state) {
    state("node", node);
    state("steps", steps);
  }
};

// "12 GPU seconds", "3.42 GPU hours".
std::string TimeText(double seconds, std::string_view of) {
  return seconds < kHour ? Format("{:.0f} {} seconds", seconds, of)
                         : Format("{:.2f} {} hours", seconds / kHour, of);
}

class ProfilerReportFold : public FieldsFold<ProfilerReportFold> {
 public:
  ProfilerReportFold(const Params& params, const JobFacts& facts)
      : threshold_(params["threshold"]),
        price_(params["price_per_gpu_hour"]),
        tick_s_(std::chrono::duration<double>(facts.interval).count()),
        start_(kPatience / facts.interval, facts) {}

  void Observe(const StepView& steps) override;
  void Observe(const TickView& ticks) override;
  Verdict Judge() const override;

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("nodes", nodes_, [] { return Node(); });
    state("ranks", ranks_, [] { return Rank(); });
  }

 private:
  struct Whole {
    TimeByCause budget;
    bool gpus = false;  // the time is of GPUs, not of steps
  };
  RankSums RanksOf(std::string_view node) const;
  Whole Divide() const;
  std::string Describe(const Whole& whole, const std::vector<Cause>& ranked) const;
  std::int64_t Steps() const;
  bool TellsOfWaits() const;
  Json Row(const Whole& whole, Cause cause) const;
  Json Evidence(const Whole& whole, const std::vector<Cause>& ranked) const;

  double threshold_, price_, tick_s_;

  Initialisation start_;
  std::map<std::string, Node, std::less<>> nodes_;
  std::map<int, Rank, std::less<>> ranks_;
};

void ProfilerReportFold::Observe(const StepView& steps) {
  start_.Observe(steps);
  if (steps.steps.empty()) return;
  Rank& rank = ranks_[steps.rank];
  rank.node = steps.node;
  for (const Step& step : steps.steps) rank.steps.Add(step);
}

void ProfilerReportFold::Observe(const TickView& ticks) {
  Node& node = nodes_[std::string(ticks.node)];
  const HostSigns signs(ticks);
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const bool loop = start_.Observe(ticks.node, ticks.At(row)) != Initialisation::Tick::kNotJudged;
    const auto& stepped = start_.first_step_end();
    if (!node.stepped && stepped && ticks.At(row) >= *stepped) node.StepEnded();
    HostSums& sums = loop ? node.loop : node.start;
    const Cause shown = signs.Shown(row, node.link);
    sums.host[shown] += tick_s_;
    for (const Column* gpu : signs.gpus()) {
      if (!gpu->Has(row)) continue;
      const double busy = std::clamp(gpu->At(row) / 100, 0.0, 1.0) * tick_s_;
      sums.busy += busy;
      sums.idle[loop ? shown : Cause::kInitialisation] += tick_s_ - busy;
    }
  }
}

RankSums ProfilerReportFold::RanksOf(std::string_view node) const {
  RankSums sums;
  for (const auto& [number, rank] : ranks_) {
    if (rank.node != node) continue;
    sums.steps.Add(rank.steps);
    ++sums.ranks;
  }
  return sums;
}

// The time is of GPUs where there are any, else of steps.
ProfilerReportFold::Whole ProfilerReportFold::Divide() const {
  Whole whole;
  for (const auto& [name, node] : nodes_) {
    TimeByCause start = node.start.idle;
    start[Cause::kBusy] = node.start.busy;
    whole.budget.Add(start);
    whole.budget.Add(GpuBudget(node.loop, RanksOf(name)));
  }
  whole.gpus = whole.budget.Total() > 0;
  if (whole.gpus) return whole;
  const bool tells = TellsOfWaits();
  for (const auto& [number, rank] : ranks_) {
    const auto node = nodes_.find(rank.node);
    const HostSums& host = node == nodes_.end() ? HostSums() : node->second.loop;
    whole.budget.Add(StepBudget(host, rank.steps, tells));
  }
  return whole;
}

std::string ProfilerReportFold::Describe(const Whole& whole,
                                         const std::vector<Cause>& ranked) const {
  const double total = whole.budget.Total();
  const auto percent = [&](Cause cause) { return whole.budget[cause] / total * 100; };
  std::string text =
      Format("{} {:.1f} % of {}", whole.gpus ? "The GPUs were busy" : "The steps were computing",
             percent(Cause::kBusy), TimeText(total, whole.gpus ? "GPU" : "rank"));
  if (ranked.empty() || percent(ranked[0]) <= threshold_) {
    return text + Format("; no cause took more than {:g} %: no bottleneck found.", threshold_);
  }
  text += Format("; most was lost to {}, {:.1f} %", TextOf(ranked[0]).words, percent(ranked[0]));
  if (ranked.size() > 1 && percent(ranked[1]) > threshold_) {
    text += Format(", then to {}, {:.1f} %", TextOf(ranked[1]).words, percent(ranked[1]));
  }
  return text + ".";
}

std::int64_t ProfilerReportFold::Steps() const {
  std::int64_t steps = 0;
  for (const auto& [number, rank] : ranks_) steps += rank.steps.steps();
  return steps;
}

// Whether any step reports a wait for data, as steps of a watched loader do.
bool ProfilerReportFold::TellsOfWaits() const {
  return std::ranges::any_of(ranks_, [](const auto& each) {
    return each.second.steps.phase(Phase::kData) > Duration::zero();
  });
}

Json ProfilerReportFold::Row(const Whole& whole, Cause cause) const {
  const CauseText& text = TextOf(cause);
  const double seconds = whole.budget[cause], share = seconds / whole.budget.Total();
  Json row = {{"cause", text.name}, {"words", text.words}, {"seconds", seconds}, {"share", share}};
  if (price_ > 0 && whole.gpus) row["cost"] = seconds / kHour * price_;
  if (cause == Cause::kBusy) return row;
  // Amdahl's law: without the cause the job would take the remaining time.
  row["speed_up"] = share < 1 ? Json(1 / (1 - share)) : Json();
  row["stage"] = text.stage == 0 ? Json() : Json(text.stage);
  row["suspect"] = text.suspect.empty() ? Json() : Json(text.suspect);
  row["advice"] = AdviceOf(cause, Steps() >= kLeastSteps && (whole.gpus || TellsOfWaits()));
  row["rules"] = Json::array();
  for (const std::string_view rule : Split(text.rules, ',')) {
    if (!rule.empty()) row["rules"].push_back(rule);
  }
  return row;
}

Json ProfilerReportFold::Evidence(const Whole& whole, const std::vector<Cause>& ranked) const {
  const std::int64_t steps = Steps();
  Json rows = Json::array({Row(whole, Cause::kBusy)});
  for (const Cause cause : ranked) rows.push_back(Row(whole, cause));
  return {{"unit", whole.gpus ? "gpu_seconds" : "rank_seconds"},
          {"total_seconds", whole.budget.Total()},
          {"threshold", threshold_},
          {"steps", steps},
          {"ranks", ranks_.size()},
          {"nodes", nodes_.size()},
          {"confidence", steps >= kLeastSteps ? "steps seen" : "host only"},
          {"budget", std::move(rows)}};
}

Verdict ProfilerReportFold::Judge() const {
  const Whole whole = Divide();
  const double total = whole.budget.Total();
  if (total <= 0) return Unknown("no GPU and no steps seen: there is no time to divide up");
  if (total < kLeastSeconds) return Unknown(Format("{:.1f} of {:g} s seen", total, kLeastSeconds));
  std::vector<Cause> ranked;
  for (std::size_t i = 1; i < kCauses; ++i) {
    if (whole.budget.seconds[i] > 0) ranked.push_back(static_cast<Cause>(i));
  }
  std::ranges::stable_sort(ranked, std::greater<>(),
                           [&](Cause cause) { return whole.budget[cause]; });
  Verdict verdict;
  verdict.kind = VerdictKind::kClear;
  verdict.sentence = Describe(whole, ranked);
  if (!ranked.empty()) verdict.severity = SeverityOfLoss(whole.budget[ranked[0]] / total);
  verdict.evidence = Evidence(whole, ranked);
  return verdict;
}

}  // namespace

RuleType ProfilerReport() {
  return {
      .name = "ProfilerReport",
      .sentence = "Where the time of the job went, and which rules found issues.",
      .fires =
          "Another rule of the job fires. It divides the time of the job by what it was lost to, "
          "and ranks the causes.",
      .advice = "Follow the advice of the first cause: it has the largest gain.",
      .params = kParams,
      .metrics = HostSigns::Metrics(),
      .steps = StepNeed::kAll,
      .make = MakeFold<ProfilerReportFold>,
      .sums_up = true,
  };
}

}  // namespace stepscope
