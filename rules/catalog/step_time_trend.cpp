// Steps take longer and longer: each a little longer than the one before.

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/base/text.h"
#include "rules/engine/finding_track.h"
#include "rules/engine/firing_time.h"
#include "rules/engine/sentence.h"
#include "rules/engine/state.h"
#include "rules/signals/step_sums.h"
#include "rules/stats/step_course.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 20, 1, 10'000, "%", "Growth of the steps from which it fires."},
    {"min_steps", 100, 50, 1'000'000, "steps",
     "Steps needed before the rule speaks, the first 20 apart; they must also be 60 s of step "
     "time."},
};
// The first steps compile and fill caches.
constexpr std::int64_t kWarmUp = 20;
constexpr double kLeastSeconds = 60;
constexpr std::int64_t kFirst = 32;     // steps with whose phases the newest ones are compared
constexpr std::size_t kMostShown = 64;  // ranks in the evidence

struct Rank {
  std::string node;
  std::int64_t seen = 0;  // steps, with those of the warm-up
  double wall_s = 0;      // step time after the warm-up
  StepCourse course;
  StepSums first, open, newest;  // sums of the first steps, of the open window, of the last
  FiringTime time;
  bool judged = false, active = false;
  std::optional<Time> fired;
  // The newest growth: numbers of the steps at its begin and its end, and the step time there.
  std::int64_t from_step = 0, to_step = 0;
  double start_s = 0, end_s = 0, per_step_s = 0, lost_s = 0;
  bool from_begin = true;

  template <typename State>
  void Fields(State& state) {
    state("node", node);
    state("seen", seen);
    state("wall_s", wall_s);
    state("course", course);
    state("first", first);
    state("open", open);
    state("newest", newest);
    state("time", time);
    state("judged", judged);
    state("active", active);
    state("fired", fired);
    state("from_step", from_step);
    state("to_step", to_step);
    state("start_s", start_s);
    state("end_s", end_s);
    state("per_step_s", per_step_s);
    state("lost_s", lost_s);
    state("from_begin", from_begin);
  }

  std::int64_t Judged() const { return std::max<std::int64_t>(0, seen - kWarmUp); }
  double Rise() const { return start_s > 0 ? end_s / start_s - 1 : 0; }
};

class TrendFold : public FieldsFold<TrendFold> {
 public:
  explicit TrendFold(const Params& params)
      : threshold_(params["threshold"] / 100),
        min_steps_(static_cast<std::int64_t>(params["min_steps"])) {}

  void Observe(const StepView& steps) override;
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }

  template <typename State>
  void Fields(State& state) {
    state("findings", findings_);
    state("ranks", ranks_, [] { return Rank(); });
  }

 private:
  bool IsJudged(const Rank& rank) const {
    return rank.Judged() >= min_steps_ && rank.wall_s >= kLeastSeconds &&
           rank.course.windows().size() >= kLeastWindows;
  }
  void Observe(int number, Rank& rank, const Step& step);
  void Look(int number, Rank& rank, const Step& newest);
  std::string Describe(int number, const Rank& rank) const;
  std::string Reason() const;
  Json Evidence() const;

  double threshold_;
  std::int64_t min_steps_;

  FindingTrack findings_;
  std::map<int, Rank, std::less<>> ranks_;
};

void TrendFold::Observe(const StepView& steps) {
  if (steps.steps.empty()) return;
  Rank& rank = ranks_[steps.rank];
  if (rank.seen == 0) rank.node = steps.node;
  for (const Step& step : steps.steps) Observe(steps.rank, rank, step);
}

void TrendFold::Observe(int number, Rank& rank, const Step& step) {
  if (step.wall <= Duration::zero() || ++rank.seen <= kWarmUp) return;
  rank.wall_s += ToSeconds(step.wall);
  rank.time.Saw(step.start, EndedAt(step));
  if (rank.first.steps() < kFirst) rank.first.Add(step);
  rank.open.Add(step);
  if (!rank.course.Add(step)) return;
  rank.newest = std::exchange(rank.open, StepSums());
  if (IsJudged(rank)) Look(number, rank, step);
}

void TrendFold::Look(int number, Rank& rank, const Step& newest) {
  const Growth growth = GrowthOf(rank.course, threshold_);
  const StepCourse::Window& from = rank.course.windows()[growth.first];
  rank.judged = true;
  rank.active = growth.grows;
  if (rank.fired && !rank.active) return;  // the sentence tells of the growth that there was
  rank.from_step = from.number, rank.to_step = newest.number;
  rank.start_s = growth.start_s, rank.end_s = growth.end_s;
  rank.per_step_s = growth.per_step_s, rank.lost_s = growth.lost_s;
  rank.from_begin = growth.first == 0;
  if (!rank.active) return;
  const Time to = EndedAt(newest);
  if (!rank.fired) rank.fired = to;
  rank.time.Fired(from.from, to);
  findings_.Trigger({rank.node, "", number}, from.from, to, Describe(number, rank),
                    {{"from_step", rank.from_step},
                     {"start_seconds", rank.start_s},
                     {"end_seconds", rank.end_s},
                     {"seconds_each_step", rank.per_step_s}});
}

std::string TrendFold::Describe(int number, const Rank& rank) const {
  const auto time = [](double seconds) { return StepText(Duration(std::llround(seconds * 1e9))); };
  const std::string course =
      Format("{} at step {}, {} at step {}", time(rank.start_s), Grouped(rank.from_step),
             time(rank.end_s), Grouped(rank.to_step));
  if (!rank.fired) {
    return Format(
        "Steps of rank {} do not grow from step to step: {} ({:+.0f} %); the threshold is "
        "{:+g} %.",
        number, course, rank.Rise() * 100, threshold_ * 100);
  }
  const std::string since =
      rank.from_begin ? "since the begin" : Format("since step {}", Grouped(rank.from_step));
  return Format("Steps of rank {} grow: {}, +{} each step, {}; longer is {}.", number, course,
                time(rank.per_step_s), since, WhatGrew(rank.newest, rank.first));
}

Json TrendFold::Evidence() const {
  Json ranks = Json::array();
  for (const auto& [number, rank] : ranks_) {
    if (ranks.size() == kMostShown) break;
    if (!rank.judged) continue;
    ranks.push_back({{"rank", number},
                     {"node", rank.node},
                     {"from_step", rank.from_step},
                     {"to_step", rank.to_step},
                     {"start_seconds", rank.start_s},
                     {"end_seconds", rank.end_s},
                     {"seconds_each_step", rank.per_step_s},
                     {"active", rank.active}});
  }
  return {{"findings_left_out", findings_.left_out()}, {"ranks", std::move(ranks)}};
}

// The reason why nothing is judged yet.
std::string TrendFold::Reason() const {
  std::int64_t steps = 0;
  double wall_s = 0;
  for (const auto& [number, rank] : ranks_) {
    steps = std::max(steps, rank.Judged());
    wall_s = std::max(wall_s, rank.wall_s);
  }
  if (ranks_.empty()) return "no steps reported";
  if (steps < min_steps_) return Format("{} of {} steps seen", steps, Grouped(min_steps_));
  return Format("{} took {}; judged from {:g} s of step time on", CountText(steps, "step"),
                StepText(Duration(std::llround(wall_s * 1e9))), kLeastSeconds);
}

Verdict TrendFold::Judge() const {
  Verdict verdict;
  const std::pair<const int, Rank>* worst = nullptr;
  for (const auto& each : ranks_) {
    const Rank& rank = each.second;
    if (!rank.judged) continue;
    const auto key = [](const auto& of) {
      return std::tuple(of.second.fired.has_value(), of.second.Rise(), -of.first);
    };
    if (worst == nullptr || key(each) > key(*worst)) worst = &each;
    if (!rank.fired) continue;
    verdict.fired = std::min(verdict.fired.value_or(*rank.fired), *rank.fired);
    verdict.active = verdict.active || rank.active;
  }
  if (worst == nullptr) return Unknown(Reason());
  const auto& [number, rank] = *worst;
  verdict.kind = rank.fired ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.sentence = Describe(number, rank);
  verdict.evidence = Evidence();
  if (!rank.fired) return verdict;
  if (!verdict.active) verdict.sentence += " They do not grow any more.";
  verdict.share = rank.time.Share();
  verdict.severity = SeverityOfLoss(rank.lost_s / std::max(rank.wall_s, 1e-9));
  return verdict;
}

}  // namespace

RuleType StepTimeTrend() {
  return {
      .name = "StepTimeTrend",
      .sentence = "Steps take longer and longer, each a little longer than the one before.",
      .fires =
          "The step time of a rank grows by threshold or more over all its steps, or over the "
          "newest "
          "half or quarter of them: 85 % of all pairs of windows of steps rise, and each half of "
          "the stretch does. The slope is the median of all pairs, which outliers do not bend. A "
          "level that is left once is what StepTimeRegression finds.",
      .advice =
          "Look for what grows with every step: a list of losses that keep their graph (append "
          "loss.item() instead), metrics that accumulate and are never reset, caches, "
          "logs that are read again; or for samples that are sorted by length.",
      .params = kParams,
      .metrics = {},
      .steps = StepNeed::kAll,
      .make = MakeFold<TrendFold>,
  };
}

}  // namespace stepscope
