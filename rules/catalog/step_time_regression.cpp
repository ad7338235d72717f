// Steps take longer than when the job had found its pace, or than in earlier runs of its group.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "rules/engine/finding_track.h"
#include "rules/engine/sentence.h"
#include "rules/engine/state.h"
#include "rules/signals/alike_runs.h"
#include "rules/signals/step_pace.h"
#include "rules/signals/step_sums.h"
#include "rules/signals/step_times.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 15, 0, 10'000, "%", "How much longer than its steady steps is too long."},
};
// A window has at least this many steps, and this length.
constexpr std::int64_t kSteps = 100;
constexpr Duration kLength = 60s;
// The standard errors by which a slow window's mean differs, which a few long steps do not reach.
constexpr double kSure = 4;
constexpr std::int64_t kUnsteadyWindows = 3;  // without a pace, that are worth a word
constexpr std::int64_t kInARow = 2;           // slow windows that make a finding
constexpr std::size_t kMostShown = 64;        // ranks in the evidence

struct Rank {
  std::string node;
  StepTimes window;            // the steps since the last full window
  StepSums sums, steady_sums;  // sums of the open window; of the window that set the pace
  std::int64_t windows = 0;    // full windows
  double before_s = 0;         // median of the last full window
  double steady_s = 0;         // median of the window that set the pace; 0 until it is known
  // Sums of squares of the steps' seconds: of the open window and of the one that set the pace;
  // mean of the last full window, and its standard error.
  double squares = 0, steady_squares = 0, before_mean_s = 0, before_error_s = 0;
  std::int64_t judged = 0, slow = 0, row = 0;  // windows; slow ones; slow ones in a row
  double judged_s = 0, lost_s = 0;
  double row_s = 0, firing_s = 0;  // step time of the slow windows in a row; of windows that fired
  std::string grew;                // the phase that grew in the newest slow window
  std::optional<Time> from, row_from, fired;

  // Time counts, not steps: many short steps must not outvote the long ones that take the time.
  double MeanPace() const { return ToSeconds(steady_sums.MeanWall()); }

  template <typename State>
  void Fields(State& state) {
    state("node", node);
    state("window", window);
    state("sums", sums);
    state("steady_sums", steady_sums);
    state("windows", windows);
    state("before_s", before_s);
    state.Added("squares", squares);
    state.Added("steady_squares", steady_squares);
    state.Added("before_mean_s", before_mean_s);
    state.Added("before_error_s", before_error_s);
    state("steady_s", steady_s);
    state("judged", judged);
    state("slow", slow);
    state("row", row);
    state("judged_s", judged_s);
    state("lost_s", lost_s);
    state("row_s", row_s);
    state("firing_s", firing_s);
    state("grew", grew);
    state("from", from);
    state("row_from", row_from);
    state("fired", fired);
  }
};

class RegressionFold : public FieldsFold<RegressionFold> {
 public:
  RegressionFold(const Params& params, const JobFacts& facts)
      : threshold_(params["threshold"] / 100), runs_(facts) {}

  void Observe(const StepView& steps) override;
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }

  template <typename State>
  void Fields(State& state) {
    state("findings", findings_);
    state.Added("earlier", runs_);
    state.Dropped("runs", std::int64_t());
    state.Dropped("runs_s", double());
    state("ranks", ranks_, [] { return Rank(); });
  }

 private:
  // Whether earlier runs were faster than this one when it had found its pace. Only medians of
  // theirs are known, and are compared with medians.
  bool ByRuns(const Rank& rank) const {
    return !runs_.steps().empty() && runs_.Middle() < rank.steady_s;
  }
  double PaceOf(const Rank& rank) const { return ByRuns(rank) ? runs_.Middle() : rank.MeanPace(); }
  double NewestOf(const Rank& rank) const {
    const bool median = ByRuns(rank) || rank.before_mean_s <= 0;  // a state of an earlier version
    return median ? rank.before_s : rank.before_mean_s;
  }
  bool IsSlow(const Rank& rank) const;
  void Close(int number, Rank& rank, Time end);
  void Compare(int number, Rank& rank, Time end);
  std::string Describe(int number, const Rank& rank) const;
  Json Evidence() const;

  double threshold_;
  AlikeRuns runs_;
  FindingTrack findings_;
  std::map<int, Rank, std::less<>> ranks_;
};

void RegressionFold::Observe(const StepView& steps) {
  if (steps.steps.empty()) return;
  Rank& rank = ranks_[steps.rank];
  if (rank.node.empty()) rank.node = steps.node;
  for (const Step& step : steps.steps) {
    if (!rank.from) rank.from = step.start;
    rank.window.Add(std::max(step.wall, Duration::zero()));
    rank.sums.Add(step);
    const double seconds = std::max(0.0, ToSeconds(step.wall));
    rank.squares += seconds * seconds;
    if (rank.window.count() < kSteps || rank.sums.wall() < kLength) continue;
    Close(steps.rank, rank, EndedAt(step));
  }
}

void RegressionFold::Close(int number, Rank& rank, Time end) {
  const double median_s = ToSeconds(rank.window.Median());
  const double mean_s = ToSeconds(rank.sums.MeanWall());
  const double error_s = ErrorOf(rank.sums, rank.squares);
  const double before_s = std::exchange(rank.before_mean_s, mean_s);
  const double before_error_s = std::exchange(rank.before_error_s, error_s);
  const double before_median_s = std::exchange(rank.before_s, median_s);
  if (rank.steady_s > 0) {
    Compare(number, rank, end);
  } else if (before_s > 0 && HasOnePace(mean_s, before_s, std::hypot(error_s, before_error_s))) {
    rank.steady_s = before_median_s;
    rank.steady_sums = rank.sums;
    rank.steady_squares = rank.squares;
  }
  ++rank.windows;
  rank.window = StepTimes();
  rank.sums = StepSums();
  rank.squares = 0;
  rank.from.reset();
}

// Judges the newest full window.
bool RegressionFold::IsSlow(const Rank& rank) const {
  const double pace_s = PaceOf(rank), newest_s = NewestOf(rank);
  if (newest_s <= pace_s * (1 + threshold_)) return false;
  if (ByRuns(rank)) return true;
  const double pace_error_s = ErrorOf(rank.steady_sums, rank.steady_squares);
  return newest_s - pace_s > kSure * std::hypot(rank.before_error_s, pace_error_s);
}

void RegressionFold::Compare(int number, Rank& rank, Time end) {
  const double wall_s = ToSeconds(rank.sums.wall());
  const double pace_s = PaceOf(rank), newest_s = NewestOf(rank);
  ++rank.judged;
  rank.judged_s += wall_s;
  if (!IsSlow(rank)) {
    rank.row = 0;
    return;
  }
  ++rank.slow;
  rank.lost_s += wall_s * (1 - pace_s / newest_s);
  rank.grew = WhatGrew(rank.sums, rank.steady_sums);
  if (rank.row++ == 0) rank.row_from = rank.from, rank.row_s = 0;
  rank.row_s += wall_s;
  if (rank.row < kInARow) return;
  rank.firing_s += rank.row == kInARow ? rank.row_s : wall_s;
  if (!rank.fired) rank.fired = end;
  findings_.Trigger(
      {rank.node, "", number}, *rank.row_from, end, Describe(number, rank),
      {{ByRuns(rank) ? "median_seconds" : "mean_seconds", newest_s}, {"steady_seconds", pace_s}});
}

std::string RegressionFold::Describe(int number, const Rank& rank) const {
  const auto time = [](double seconds) {
    return StepText(Duration(static_cast<std::int64_t>(seconds * 1e9)));
  };
  const double pace_s = PaceOf(rank), newest_s = NewestOf(rank);
  std::string text = Format(
      "The {} step of rank {} takes {}, {:+.0f} % against {} {}; the threshold is {:+g} %. {} of "
      "{} "
      "windows of {} or more were above it.",
      ByRuns(rank) ? "median" : "mean", number, time(newest_s), (newest_s / pace_s - 1) * 100,
      time(pace_s),
      ByRuns(rank)
          ? Format("in {} of its group", CountText(std::ssize(runs_.steps()), "earlier run"))
          : "when the job had found its pace",
      threshold_ * 100, Grouped(rank.slow), Grouped(rank.judged), CountText(kSteps, "step"));
  // The phases of earlier runs are not known.
  const bool tells = (rank.fired || rank.row > 0) && !ByRuns(rank);
  return tells ? text + Format(" Longer was {}.", rank.grew) : text;
}

Json RegressionFold::Evidence() const {
  Json ranks = Json::array();
  std::vector<double> steady;
  for (const auto& [number, rank] : ranks_) {
    if (rank.steady_s > 0) steady.push_back(rank.steady_s);
    if (ranks.size() >= kMostShown) continue;
    ranks.push_back({{"rank", number},
                     {"node", rank.node},
                     {"steady_seconds", rank.steady_s},
                     {"newest_seconds", rank.before_s},
                     {"steady_mean_seconds", rank.MeanPace()},
                     {"newest_mean_seconds", rank.before_mean_s},
                     {"windows", rank.judged},
                     {"slow_windows", rank.slow}});
  }
  return {
      {"findings_left_out", findings_.left_out()},
      {"pace_seconds", MiddleOf(steady)},
      {"setup", runs_.setup()},
      {"runs", runs_.steps().size()},
      {"runs_left_out", runs_.left_out()},
      {"runs_pace_seconds", runs_.Middle()},
      {"compared_with",
       Format("the job's own first steady window{}",
              runs_.steps().empty() ? "" : " and earlier runs of its group, whichever was faster")},
      {"ranks", std::move(ranks)}};
}

Verdict RegressionFold::Judge() const {
  Verdict verdict;
  const std::pair<const int, Rank>* worst = nullptr;
  std::int64_t windows = 0;
  for (const auto& rank : ranks_) {
    windows = std::max(windows, rank.second.windows);
    if (rank.second.judged == 0) continue;
    const auto key = [this](const auto& of) {
      return std::pair(of.second.fired.has_value(), NewestOf(of.second) / PaceOf(of.second));
    };
    if (worst == nullptr || key(rank) > key(*worst)) worst = &rank;
    if (!rank.second.fired) continue;
    verdict.fired = std::min(verdict.fired.value_or(*rank.second.fired), *rank.second.fired);
    verdict.active = verdict.active || rank.second.row >= kInARow;
  }
  if (ranks_.empty()) return Unknown("no steps reported");
  if (worst == nullptr && windows >= kUnsteadyWindows) {
    return Unknown(
        Format("the steps have found no pace to compare with in {}; whether they grow "
               "with every step is what StepTimeTrend says",
               CountText(windows, "window")));
  }
  if (worst == nullptr) {
    return Unknown(Format("no steady window and one after it yet, {} of at least {} and {} seen",
                          CountText(windows, "window"), CountText(kSteps, "step"),
                          LengthText(kLength)));
  }
  const Rank& rank = worst->second;
  verdict.kind = rank.fired ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.sentence = Describe(worst->first, rank);
  if (const std::string why = runs_.WhyNone(); !why.empty()) verdict.sentence += " " + why;
  verdict.evidence = Evidence();
  if (!rank.fired) return verdict;
  verdict.share = std::min(1.0, rank.firing_s / rank.judged_s);
  verdict.severity = SeverityOfLoss(rank.lost_s / rank.judged_s);
  return verdict;
}

}  // namespace

RuleType StepTimeRegression() {
  return {
      .name = "StepTimeRegression",
      .sentence =
          "Steps take longer than when the job had found its pace, or than in earlier runs of its "
          "group.",
      .fires =
          "In two windows of 100 steps and a minute in a row the mean step of a rank is longer "
          "than "
          "in the window in which the job had found its pace, by more than threshold and more than "
          "a few long steps explain; or the median step than that of the last three runs of its "
          "group that ended before it began and had the same ranks, GPUs, cores and batches, where "
          "those were faster.",
      .advice =
          "Look at what changed: longer samples, a fuller disk or cache, memory that grows, a "
          "throttled GPU, or another job on the node.",
      .params = kParams,
      .metrics = {},
      .steps = StepNeed::kAll,
      .make = MakeFold<RegressionFold>,
      .compares_runs = true,
  };
}

}  // namespace stepscope
