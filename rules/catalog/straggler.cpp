// One rank's own work takes longer than that of the others, so that all wait for it.

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/text.h"
#include "rules/engine/finding_track.h"
#include "rules/engine/sentence.h"
#include "rules/engine/state.h"
#include "rules/ranks/late_rank.h"
#include "rules/ranks/late_words.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 10, 0, 1'000, "%", "How much longer than the median rank's is too long."},
    {"min_steps", 100, 1, 1'000'000, "steps", "Steps of a rank needed before it is judged."},
};
constexpr std::size_t kMostShown = 64;  // ranks in the evidence

// The time in which a rank was late.
struct Late {
  Time fired{}, from{}, until{};  // when it was found; begin and end of the newest stretch
  double late_s = 0,
         lost_s = 0;  // step time in which it was late, and what of it the others waited
  std::string sentence;

  template <typename State>
  void Fields(State& state) {
    state("fired", fired);
    state("from", from);
    state("until", until);
    state("late_s", late_s);
    state("lost_s", lost_s);
    state("sentence", sentence);
  }
};

class StragglerFold : public FieldsFold<StragglerFold> {
 public:
  StragglerFold(const Params& params, const JobFacts& facts)
      : threshold_(params["threshold"]),
        min_steps_(static_cast<std::int64_t>(params["min_steps"])),
        late_rank_(facts, threshold_ / 100) {}

  void Observe(const StepView& steps) override { late_rank_.Observe(steps); }
  void Observe(const TickView& ticks) override { late_rank_.Observe(ticks); }
  void Scan(Time at) override;
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }
  Status Load(std::string_view state) override;

  template <typename State>
  void Fields(State& state) {
    state("findings", findings_);
    state("late_rank", late_rank_);
    state("late", late_, [] { return Late(); });
  }

 private:
  bool IsJudged(const LateRank::Found& found) const { return found.steps >= min_steps_; }
  double StepSeconds(int rank) const;
  const std::pair<const int, Late>* Worst() const;
  Json Evidence() const;
  std::string Alike() const;

  double threshold_;
  std::int64_t min_steps_;

  FindingTrack findings_;
  LateRank late_rank_;
  std::map<int, Late, std::less<>> late_;
};

double StragglerFold::StepSeconds(int rank) const {
  return ToSeconds(late_rank_.ranks().at(rank).work.steps().wall());
}

void StragglerFold::Scan(Time at) {
  late_rank_.Scan(at);
  const auto found = late_rank_.Find();
  if (!found || !IsJudged(*found)) return;
  const auto known = late_.find(found->rank);
  const bool fires = known == late_.end();
  if (!fires && !found->active) return;
  Late& late = late_[found->rank];
  const double seconds = fires ? found->late * StepSeconds(found->rank) : ToSeconds(found->fresh);
  if (fires) late.fired = at;
  late.from = fires ? found->from : std::max(late.until, found->from);
  late.until = std::max(late.from, found->to);
  late.late_s += seconds;
  late.lost_s += seconds * found->lost;
  late.sentence = Sentence(*found);
  findings_.Trigger({found->node, "", found->rank}, late.from, late.until, late.sentence,
                    {{"lost_percent", found->lost * 100},
                     {"longer_seconds", ToSeconds(found->longer)},
                     {"what", found->what},
                     {"waits_in", found->waits}});
}

// The rank that the others lost most time to.
const std::pair<const int, Late>* StragglerFold::Worst() const {
  const std::pair<const int, Late>* worst = nullptr;
  for (const auto& late : late_) {
    if (worst == nullptr || late.second.lost_s > worst->second.lost_s) worst = &late;
  }
  return worst;
}

Json StragglerFold::Evidence() const {
  Json rows = Json::array();
  for (const auto& [number, rank] : late_rank_.ranks()) {
    if (rows.size() == kMostShown) break;
    const StepSums& steps = rank.work.steps();
    const Duration own = steps.MeanWall() - steps.MeanPhase(Phase::kCommunication);
    rows.push_back({{"rank", number},
                    {"node", rank.node},
                    {"own_seconds", ToSeconds(own)},
                    {"phase_seconds", PhaseSeconds(steps)},
                    {"steps", steps.steps()}});
  }
  return {{"findings_left_out", findings_.left_out()}, {"ranks", std::move(rows)}};
}

std::string StragglerFold::Alike() const {
  return Format("None of the {} ranks works more than {:g} % longer than the median rank.",
                late_rank_.ranks().size(), threshold_);
}

Verdict StragglerFold::Judge() const {
  const LateRank::Judgement now = late_rank_.Judge();
  const auto* worst = Worst();
  if (worst == nullptr && now.found) {
    return Unknown(Format("rank {} is late, but only {} of {} steps were compared", now.found->rank,
                          now.found->steps, Grouped(min_steps_)));
  }
  if (worst == nullptr && !now.reason.empty()) return Unknown(now.reason);
  Verdict verdict;
  verdict.evidence = Evidence();
  verdict.kind = worst == nullptr ? VerdictKind::kClear : VerdictKind::kFinding;
  verdict.sentence = worst == nullptr ? Alike() : worst->second.sentence;
  if (worst == nullptr) return verdict;
  for (const auto& [number, late] : late_) {
    verdict.fired = std::min(verdict.fired.value_or(late.fired), late.fired);
  }
  verdict.active = now.found && now.found->active && late_.contains(now.found->rank);
  const double wall_s = StepSeconds(worst->first);
  verdict.share = std::min(1.0, worst->second.late_s / wall_s);
  verdict.severity = SeverityOfLoss(worst->second.lost_s / wall_s);
  return verdict;
}

// Versions that compared minutes saved another state: its findings are kept, as they have numbers,
// and the ranks are compared anew.
Status StragglerFold::Load(std::string_view state) {
  Status status;
  StateReader reader(state, status);
  FindingTrack findings;
  reader("findings", findings);
  if (!status.ok() || !reader.Comes("windows")) return FieldsFold::Load(state);
  findings_ = std::move(findings);
  return {};
}

}  // namespace

RuleType Straggler() {
  return {
      .name = "Straggler",
      .sentence =
          "One rank's own work takes longer than that of the others, so that all wait for it.",
      .fires =
          "The own work of one rank takes longer than the median rank's by more than threshold: it "
          "is longer in data, callbacks or checkpoints, or shorter in collectives that the "
          "training "
          "calls, or its thread computes while the others sleep. Again and again, not once, and "
          "not in turns with others. Ranks are compared that step together.",
      .advice =
          "Look at that rank's node: other processes, slow or hot GPU, slow disk or network; at "
          "what it alone does, such as checkpoints and logging; and at its part of the data: "
          "longer "
          "samples make longer steps.",
      .params = kParams,
      .metrics = LateRank::Metrics(),
      .steps = StepNeed::kAll,
      .make = MakeFold<StragglerFold>,
  };
}

}  // namespace stepscope
