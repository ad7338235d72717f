// Single steps of a rank are much longer than its others.
//
// Steps that vary have no outliers, however long some of them are: batches of many lengths, images
// of several sizes. So an outlier stands out of the 256 steps before it, too; more than a few in a
// row are a new pace; and the steps between the usual ones and the outliers must be fewer than
// these, as a tail that thins out is how the steps vary.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "core/base/text.h"
#include "rules/engine/finding_track.h"
#include "rules/engine/sentence.h"
#include "rules/engine/state.h"
#include "rules/signals/rank_outliers.h"

namespace stepscope {
namespace {

// "none", then the phases in their order.
constexpr std::string_view kModes[] = {
    "none",      "data",     "transfer",   "forward", "loss", "backward",      "communication",
    "optimizer", "callback", "checkpoint", "other",   "sync", "device_to_host"};
static_assert(std::size(kModes) == kPhaseCount + 1);
constexpr Param kParams[] = {
    {"stddev", 3, 0, 100, "",
     "Standard deviations above the mean from which a step is an outlier."},
    {"n_outliers", 10, 0, 1'000'000, "steps", "More outliers of a rank than this are an issue."},
    {"mode", 0, 0, kPhaseCount, "",
     "What is compared: none (the whole step), or one phase of it: data, transfer, forward, loss, "
     "backward, communication, optimizer, callback, checkpoint, other, sync, device_to_host.",
     kModes},
};
// The first steps compile and fill caches: neither judged nor part of mean and deviation.
constexpr std::int64_t kWarmUp = 20;
constexpr std::int64_t kLeastJudged = 100;
constexpr std::size_t kLeastRecent = 64;  // steps that one is compared with
// Outliers in a row that are outliers; so few of the recent steps are above their 95th percentile.
constexpr std::int64_t kLongestRun = 8;
constexpr double kMostOutliers = 0.05;  // part of the steps; more are how the steps vary
// Part of the step time; outliers that cost less are nothing to act on.
constexpr double kLeastCost = 0.01;
constexpr std::size_t kMostShown = 64;  // ranks in the evidence

class OutlierFold : public FieldsFold<OutlierFold> {
 public:
  explicit OutlierFold(const Params& params)
      : stddev_(params["stddev"]),
        n_outliers_(static_cast<std::int64_t>(params["n_outliers"])),
        mode_(static_cast<std::size_t>(params["mode"])),
        chance_(std::erfc(stddev_ / std::sqrt(2.0)) / 2) {}

  void Observe(const StepView& steps) override;
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }

  template <typename State>
  void Fields(State& state) {
    state("findings", findings_);
    state("ranks", ranks_, [] { return RankOutliers(); });
  }

 private:
  Duration Length(const Step& step) const {
    const Duration length = mode_ == 0 ? step.wall : step.phases[mode_ - 1];
    return std::clamp(length, Duration::zero(), std::max(step.wall, Duration::zero()));
  }
  void Observe(int number, RankOutliers& rank, const Step& step);
  bool StandsOut(RankOutliers& rank, double seconds) const;
  void EndRun(int number, RankOutliers& rank);
  // Whether outliers are more than allowed, twice as many as chance explains, and no way in which
  // the steps vary.
  bool IsTooMany(const RankOutliers& rank) const {
    const double by_chance = chance_ * static_cast<double>(rank.Judged());
    const auto outliers = static_cast<double>(rank.slow.steps());
    const double most = kMostOutliers * static_cast<double>(rank.Judged());
    return rank.slow.steps() > n_outliers_ && outliers > 2 * by_chance && outliers <= most &&
           rank.slow.steps() > rank.between;
  }
  std::string Describe(int number, const RankOutliers& rank) const;
  Json Evidence() const;

  double stddev_;
  std::int64_t n_outliers_;
  std::size_t mode_;
  double chance_;  // chance of a normally distributed value to be an outlier

  FindingTrack findings_;
  std::map<int, RankOutliers, std::less<>> ranks_;
};

void OutlierFold::Observe(const StepView& steps) {
  if (steps.steps.empty()) return;
  RankOutliers& rank = ranks_[steps.rank];
  if (rank.seen == 0) rank.node = steps.node;
  for (const Step& step : steps.steps) Observe(steps.rank, rank, step);
}

// A step is compared with the steps before it, so that a huge step does not raise its own limit.
bool OutlierFold::StandsOut(RankOutliers& rank, double seconds) const {
  if (rank.Judged() < kLeastJudged || rank.recent.size() < kLeastRecent) return false;
  const double above = seconds - rank.Recent(0.95);
  if (above <= 0) return false;  // nearly all steps
  const double spread = rank.Spread();
  const bool outlier = above > stddev_ * spread && seconds > rank.mean_s + stddev_ * rank.Sigma();
  if (!outlier && above > spread) ++rank.between;
  return outlier;
}

void OutlierFold::Observe(int number, RankOutliers& rank, const Step& step) {
  if (++rank.seen <= kWarmUp) return;
  const Duration length = Length(step);
  const double seconds = std::chrono::duration<double>(length).count();
  const bool outlier = StandsOut(rank, seconds);
  if (outlier) {
    rank.run.sums.Add(step);
    rank.run.excess_s += seconds - rank.mean_s;
    rank.run.seconds[step.number] = seconds;
    if (!rank.run.from) rank.run.from = step.start;
    rank.run.to = EndedAt(step);
  } else {
    if (rank.run.sums.steps() > 0) EndRun(number, rank);
    rank.usual.Add(step);
  }
  rank.Add(step, length);
  if (rank.run.sums.steps() <= kLongestRun) return;
  rank.usual.Add(rank.run.sums);  // a new pace
  rank.run = OutlierRun();
  rank.recent.Clear();
}

void OutlierFold::EndRun(int number, RankOutliers& rank) {
  const Time from = *rank.run.from;
  const bool was_recent = rank.newest && from - *rank.newest <= RankOutliers::kRecent;
  const Time since = was_recent ? *rank.newest : from;
  const std::int64_t last_step = rank.run.seconds.rbegin()->first;
  rank.TakeRun();
  const bool fires = !rank.fired && IsTooMany(rank);
  if (fires) rank.fired = rank.newest;
  if (!rank.fired) return;
  findings_.Trigger(
      {rank.node, "", number}, fires ? *rank.first : since, *rank.newest, Describe(number, rank),
      {{"outliers", rank.slow.steps()}, {"steps", rank.Judged()}, {"last_step", last_step}});
}

std::string OutlierFold::Describe(int number, const RankOutliers& rank) const {
  const auto time = [](double seconds) {
    return StepText(Duration(static_cast<std::int64_t>(seconds * 1e9)));
  };
  std::string text = Format(
      "{} of {} steps of rank {} were longer than mean + {:g} x sigma ({} + {:g} x {}) and stood "
      "out of the steps before them; the limit is {}.",
      Grouped(rank.slow.steps()), Grouped(rank.Judged()), number, stddev_, time(rank.mean_s),
      stddev_, time(rank.Sigma()), Grouped(n_outliers_));
  if (rank.slow.steps() == 0) return text;
  const auto longest = std::ranges::max_element(
      rank.worst, {}, [](const auto& each) { return std::pair(each.second, -each.first); });
  return text + Format(
                    " They cost {:.2f} % of the step time; the longest took {} (step {}); they "
                    "were longer "
                    "in {}.",
                    rank.Cost() * 100, time(longest->second), longest->first,
                    WhatGrew(rank.slow, rank.usual));
}

Json OutlierFold::Evidence() const {
  Json ranks = Json::array();
  for (const auto& [number, rank] : ranks_) {
    if (ranks.size() == kMostShown || rank.Judged() == 0) continue;
    Json numbers = Json::array();
    for (const auto& [step, seconds] : rank.worst) numbers.push_back(step);
    ranks.push_back({{"rank", number},
                     {"node", rank.node},
                     {"steps", rank.Judged()},
                     {"outliers", rank.slow.steps()},
                     {"cost", rank.Cost()},
                     {"mean_seconds", rank.mean_s},
                     {"sigma_seconds", rank.Sigma()},
                     {"step_seconds", rank.times.Seconds()},
                     {"longest_steps", std::move(numbers)},
                     {"outlier_phase_seconds", PhaseSeconds(rank.slow)}});
  }
  return {{"findings_left_out", findings_.left_out()}, {"ranks", std::move(ranks)}};
}

Verdict OutlierFold::Judge() const {
  Verdict verdict;
  const std::pair<const int, RankOutliers>* worst = nullptr;
  std::int64_t seen = 0;
  for (const auto& rank : ranks_) {
    seen = std::max(seen, rank.second.seen);
    if (rank.second.Judged() <= kLeastJudged) continue;
    const auto key = [](const auto& of) {
      return std::tuple(of.second.fired.has_value(), of.second.slow.steps(), -of.first);
    };
    if (worst == nullptr || key(rank) > key(*worst)) worst = &rank;
    if (rank.second.fired) {
      verdict.fired = std::min(verdict.fired.value_or(*rank.second.fired), *rank.second.fired);
      verdict.active = verdict.active || rank.second.IsActive();
    }
  }
  if (seen == 0) return Unknown("no steps reported");
  if (worst == nullptr) {
    return Unknown(Format("{} of {} steps seen", seen, kWarmUp + kLeastJudged + 1));
  }
  const RankOutliers& rank = worst->second;
  verdict.kind = rank.fired ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.sentence = Describe(worst->first, rank);
  verdict.evidence = Evidence();
  if (!rank.fired) return verdict;
  verdict.share = ToSeconds(rank.slow.wall()) / rank.WallSeconds();
  verdict.severity = rank.Cost() < kLeastCost ? Severity::kNone : SeverityOfLoss(rank.Cost());
  return verdict;
}

}  // namespace

RuleType StepOutlier() {
  return {
      .name = "StepOutlier",
      .sentence = "Single steps of a rank are much longer than its others.",
      .fires =
          "More than n_outliers steps of a rank are longer than mean + stddev x sigma of the steps "
          "before them, at least twice as many as chance makes, and stand out of the newest 256 of "
          "them: above their 95th percentile by more than stddev times its distance from their "
          "median. More than 8 in a row are a new pace; where more than 5 % of the steps stand "
          "out, or more nearly do, the steps vary, and it is clear.",
      .advice =
          "Look at what the longest steps have in common: checkpoints, evaluation inside of "
          "the "
          "loop, slow files, garbage collection, or another job on the node.",
      .params = kParams,
      .metrics = {},
      .steps = StepNeed::kAll,
      .make = MakeFold<OutlierFold>,
  };
}

}  // namespace stepscope
