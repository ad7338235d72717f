// The time of the steps by phase: a table, never an issue.

#include <chrono>
#include <map>

#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "rules/engine/state.h"
#include "rules/signals/step_sums.h"
#include "rules/signals/step_times.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostShown = 64;  // ranks in the evidence

struct Rank {
  std::string node;
  StepSums sums;
  StepTimes times;

  template <typename State>
  void Fields(State& state) {
    state("node", node);
    state("sums", sums);
    state("times", times);
  }
};

class FrameworkFold : public FieldsFold<FrameworkFold> {
 public:
  void Observe(const StepView& steps) override;
  Verdict Judge() const override;

  template <typename State>
  void Fields(State& state) {
    state("ranks", ranks_, [] { return Rank(); });
  }

 private:
  std::map<int, Rank, std::less<>> ranks_;
};

void FrameworkFold::Observe(const StepView& steps) {
  if (steps.steps.empty()) return;
  Rank& rank = ranks_[steps.rank];
  if (rank.sums.steps() == 0) rank.node = steps.node;
  for (const Step& step : steps.steps) {
    rank.sums.Add(step);
    rank.times.Add(std::max(step.wall, Duration::zero()));
  }
}

// "data 12.1 %, forward 30.0 %, and 4.9 % outside of all phases".
std::string Shares(const StepSums& all) {
  std::string text;
  double outside = 100;
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const double percent = all.Share(static_cast<Phase>(i)) * 100;
    if (percent < 0.05) continue;
    outside -= percent;
    text +=
        Format("{}{} {:.1f} %", text.empty() ? "" : ", ", ToText(static_cast<Phase>(i)), percent);
  }
  if (text.empty()) return "no phase is known of them";
  // Phases may lie within each other, so that together they are longer than their steps.
  return outside < 0.05 ? text : text + Format(", {:.1f} % outside of all phases", outside);
}

Json Evidence(const StepSums& sums) {
  return {{"steps", sums.steps()},
          {"seconds", std::chrono::duration<double>(sums.wall()).count()},
          {"data_wait_percent", sums.Share(Phase::kData) * 100},
          {"phase_seconds", PhaseSeconds(sums)}};
}

Verdict FrameworkFold::Judge() const {
  StepSums all;
  Json ranks = Json::array();
  for (const auto& [number, rank] : ranks_) {
    all.Add(rank.sums);
    if (ranks.size() == kMostShown) continue;
    Json row = Evidence(rank.sums);
    row.update({{"rank", number}, {"node", rank.node}, {"step_seconds", rank.times.Seconds()}});
    ranks.push_back(std::move(row));
  }
  if (all.steps() == 0) return Unknown("no steps reported");
  Verdict verdict;
  verdict.kind = VerdictKind::kClear;
  verdict.sentence = Format("{} of {}, {} in the mean: {}.", CountText(all.steps(), "step"),
                            CountText(static_cast<std::int64_t>(ranks_.size()), "rank"),
                            StepText(all.MeanWall()), Shares(all));
  verdict.evidence = Evidence(all);
  verdict.evidence["ranks"] = std::move(ranks);
  verdict.evidence["operators"] = "known only with operator traces";
  return verdict;
}

}  // namespace

RuleType OverallFrameworkMetrics() {
  return {
      .name = "OverallFrameworkMetrics",
      .sentence = "Where the time of the steps went: phases, ranks, waits for data. Never fires.",
      .fires = "Never. It says where the time of the steps went.",
      .advice = "Look at the phase that takes most: the rules about that phase say more.",
      .params = {},
      .metrics = {},
      .steps = StepNeed::kAll,
      .make = MakeFold<FrameworkFold>,
  };
}

}  // namespace stepscope
