#include "rules/signals/phase_share.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "core/base/text.h"
#include "rules/engine/finding_track.h"
#include "rules/engine/sentence.h"
#include "rules/engine/state.h"
#include "rules/stats/rank_waits.h"

namespace stepscope {
namespace {

constexpr double kMedian = 0.50;
constexpr std::size_t kMostRanksShown = 64;  // ranks in the evidence

class PhaseShareFold : public FieldsFold<PhaseShareFold> {
 public:
  PhaseShareFold(const PhaseShare& share, const Params& params, const JobFacts& facts)
      : share_(share),
        facts_(facts),
        threshold_(params["threshold"]),
        moderate_(params["moderate"]),
        min_steps_(static_cast<std::int64_t>(params["min_steps"])) {}

  void Observe(const StepView& steps) override;
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }

  template <typename State>
  void Fields(State& state) {
    state("findings", findings_);
    state("ranks", ranks_, [this] { return NewRank(); });
  }

 private:
  RankWaits NewRank() const {
    RankWaits rank;
    rank.recent = RecentWaits(min_steps_);
    return rank;
  }
  bool IsJudged(const RankWaits& rank) const {
    return rank.Steps() >= min_steps_ && rank.StepTime() >= kLeastStepTime;
  }
  std::string Reason() const;
  void Observe(RankWaits& rank, const Subject& subject, const Step& step);
  const std::pair<const int, RankWaits>* Worst() const;
  bool AnyWaited() const;
  double MostSeconds(const Step& step) const;
  std::string HowText(int number, const RankWaits& rank) const;
  std::string Describe(int number, const RankWaits& rank) const;
  Json Evidence() const;

  PhaseShare share_;
  JobFacts facts_;
  double threshold_, moderate_;
  std::int64_t min_steps_;

  FindingTrack findings_;
  std::map<int, RankWaits, std::less<>> ranks_;
};

void PhaseShareFold::Observe(const StepView& steps) {
  if (steps.steps.empty()) return;
  auto found = ranks_.find(steps.rank);
  if (found == ranks_.end()) {
    found = ranks_.emplace(steps.rank, NewRank()).first;
    found->second.node = steps.node;
    found->second.first = steps.steps.front().start;
  }
  for (const Step& step : steps.steps) {
    // A step without length has no share.
    if (step.wall > Duration::zero())
      Observe(found->second, {found->second.node, "", steps.rank}, step);
  }
}

// Judges after each step, so that the size of a batch of steps cannot matter.
void PhaseShareFold::Observe(RankWaits& rank, const Subject& subject, const Step& step) {
  const double wall_s = std::chrono::duration<double>(step.wall).count();
  const double host_s =
      std::clamp(std::chrono::duration<double>(step.phase(share_.phase)).count(), 0.0, wall_s);
  const double wait_s = std::min(host_s, MostSeconds(step));
  const bool starts = rank.Starts(step);
  rank.newest = step.number;
  rank.all.Add(PercentBin(wait_s / wall_s * 100));
  if (!starts) {
    rank.recent.Add(wait_s, wall_s);
    rank.rhythm.Add(wait_s);
    rank.host_s += host_s;
    rank.wait_s += wait_s;
    rank.wall_s += wall_s;
    rank.longest_s = std::max(rank.longest_s, wait_s);
  }
  const bool was_active = rank.fired && rank.active;
  const Time before = was_active ? rank.last : step.start;
  rank.last = EndedAt(step);
  if (!IsJudged(rank)) return;
  rank.active = rank.recent.Percent() > threshold_;
  const bool first = !rank.fired && rank.Repeated() > threshold_;
  if (first) {
    rank.fired = rank.last;
    rank.fired_step = step.number;
  }
  if (!rank.fired || !(first || rank.active)) return;
  rank.firing_s += first ? rank.wall_s : wall_s;  // the first trigger covers all steps
  const double shown = first ? rank.Mean() : rank.recent.Percent();
  findings_.Trigger(
      subject, first ? rank.first : before, rank.last,
      Format("Rank {} waited {:.1f} % of the time {} (mean of {} steps up to step {}{}).",
             subject.rank, shown, share_.waits, Grouped(first ? rank.Steps() : rank.recent.steps()),
             step.number, HowText(subject.rank, rank)),
      {{"mean_percent", shown}, {"threshold", threshold_}, {"last_step", step.number}});
}

// A wait for data costs only the time in which the GPU had nothing to do, where its clock is known:
// a host that runs ahead waits while the GPU works through its queue.
double PhaseShareFold::MostSeconds(const Step& step) const {
  if (share_.phase != Phase::kData || !step.gpu_idle) return std::numeric_limits<double>::max();
  return std::max(0.0, ToSeconds(*step.gpu_idle));
}

// "; in bursts, each 4th step, one for each loader worker".
std::string PhaseShareFold::HowText(int number, const RankWaits& rank) const {
  const std::int64_t every = rank.rhythm.EverySteps();
  if (every == 0) return "";
  const auto facts = std::ranges::find(facts_.ranks, number, &RankFacts::rank);
  const bool workers =
      share_.phase == Phase::kData && facts != facts_.ranks.end() && facts->loader_workers == every;
  return Format("; in bursts, each {} step{}", OrdinalText(every),
                workers ? ", one for each loader worker" : "");
}

const std::pair<const int, RankWaits>* PhaseShareFold::Worst() const {
  const std::pair<const int, RankWaits>* worst = nullptr;
  for (const auto& rank : ranks_) {
    if (!IsJudged(rank.second)) continue;
    const auto key = [](const auto& of) {
      return std::pair(of.second.fired.has_value(), of.second.Repeated());
    };
    if (worst == nullptr || key(rank) > key(*worst)) worst = &rank;
  }
  return worst;
}

bool PhaseShareFold::AnyWaited() const {
  return std::ranges::any_of(
      ranks_, [](const auto& rank) { return rank.second.host_s + rank.second.wait_s > 0; });
}

std::string PhaseShareFold::Describe(int number, const RankWaits& rank) const {
  const bool gpu_worked = rank.Host() > rank.Mean() + 1;
  std::string text =
      Format("{} waited {:.1f} % of the time (mean of {} without the first, rank {}{}) {}",
             gpu_worked ? "The GPU" : "The training process", rank.Mean(),
             CountText(rank.Steps(), "step"), number, HowText(number, rank), share_.waits);
  if (rank.fired && rank.Mean() <= threshold_) {
    text +=
        Format("; at step {} it was above the threshold of {:g} %.", rank.fired_step, threshold_);
  } else if (!rank.fired && rank.Mean() > threshold_) {
    text += Format(
        "; without the longest wait, {}, that is {:.1f} %, not above the threshold of "
        "{:g} %.",
        StepText(Duration(std::llround(rank.longest_s * 1e9))), rank.Repeated(), threshold_);
  } else if (!rank.fired && rank.Mean() > moderate_) {
    text += Format("; that is not above the threshold of {:g} %, but above {:g} %: worth a look.",
                   threshold_, moderate_);
  } else {
    text += Format("; the threshold is {:g} %.", threshold_);
  }
  if (gpu_worked) {
    text += Format(" The host waited {:.1f} %, but the GPU had work meanwhile.", rank.Host());
  }
  const auto fired =
      std::ranges::count_if(ranks_, [](const auto& each) { return each.second.fired.has_value(); });
  if (fired > 0 && ranks_.size() > 1)
    text += Format(" {} of {} ranks fired.", fired, ranks_.size());
  if (rank.fired && !rank.active) {
    text += Format(" The newest {} are not above it.", CountText(rank.recent.steps(), "step"));
  }
  return text;
}

Json PhaseShareFold::Evidence() const {
  Json ranks = Json::array();
  bool fired = false;
  for (const auto& [number, rank] : ranks_) {
    fired = fired || rank.fired.has_value();
    if (ranks.size() == kMostRanksShown || rank.wall_s <= 0) continue;
    ranks.push_back({{"rank", number},
                     {"node", rank.node},
                     {"steps", rank.Steps()},
                     {"median_percent", BinPercent(rank.all.Percentile(kMedian))},
                     {"mean_percent", rank.Mean()},
                     {"host_percent", rank.Host()},
                     {"every_steps", rank.rhythm.EverySteps()},
                     {"waited_seconds", rank.wait_s},
                     {"longest_seconds", rank.longest_s},
                     {"step_seconds", rank.wall_s},
                     {"active", rank.active}});
  }
  Json evidence = {{"threshold", threshold_},
                   {"moderate", moderate_},
                   {"findings_left_out", findings_.left_out()},
                   {"ranks", std::move(ranks)}};
  return evidence;
}

// The reason why nothing is judged yet.
std::string PhaseShareFold::Reason() const {
  const RankWaits* longest = nullptr;
  for (const auto& [number, rank] : ranks_) {
    const bool longer = longest == nullptr || rank.Steps() > longest->Steps();
    if (rank.Steps() > 0 && longer) longest = &rank;
  }
  if (longest == nullptr) return "no steps reported";
  if (longest->Steps() < min_steps_) {
    return Format("{} of {} steps seen", longest->Steps(), Grouped(min_steps_));
  }
  return Format("{} took {}; judged from {} of step time on", CountText(longest->Steps(), "step"),
                StepText(longest->StepTime()), LengthText(kLeastStepTime));
}

Verdict PhaseShareFold::Judge() const {
  const auto* worst = Worst();
  if (worst == nullptr) return Unknown(Reason());
  Verdict verdict;
  const auto& [number, rank] = *worst;
  verdict.sentence = Describe(number, rank);
  verdict.evidence = Evidence();
  verdict.kind = rank.fired ? VerdictKind::kFinding : VerdictKind::kClear;
  if (rank.fired) {
    verdict.share = std::min(1.0, rank.firing_s / rank.wall_s);
    verdict.severity = SeverityOfLoss(rank.wait_s / rank.wall_s);
    verdict.active = std::ranges::any_of(
        ranks_, [](const auto& each) { return each.second.fired && each.second.active; });
    for (const auto& [other, each] : ranks_) {
      if (each.fired) verdict.fired = std::min(verdict.fired.value_or(*each.fired), *each.fired);
    }
  } else if (!share_.unseen.empty() && !AnyWaited()) {
    verdict.kind = VerdictKind::kUnknown;
    verdict.sentence = share_.unseen;
  } else if (!share_.hidden.empty()) {
    verdict.kind = VerdictKind::kUnknown;
    verdict.sentence = Format("{} ({:.1f} % of the time is seen)", share_.hidden, rank.Mean());
  } else if (rank.Mean() > moderate_) {
    verdict.severity = Severity::kLow;
  }
  return verdict;
}

}  // namespace

std::unique_ptr<Fold> MakePhaseShare(const PhaseShare& share, const Params& params,
                                     const JobFacts& facts) {
  return std::make_unique<PhaseShareFold>(share, params, facts);
}

}  // namespace stepscope
