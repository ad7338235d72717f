// One rank's own work takes longer than that of the others, so that all wait for it.

#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

#include "core/base/text.h"
#include "rules/engine/finding_track.h"
#include "rules/engine/sentence.h"
#include "rules/engine/state.h"
#include "rules/signals/minute_buckets.h"
#include "rules/signals/step_sums.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 10, 0, 1'000, "%", "How much longer than the median rank's is too long."},
    {"min_steps", 100, 1, 1'000'000, "steps", "Steps of a rank needed before it is judged."},
};
constexpr std::int64_t kLeastWindows = 3;
constexpr std::size_t kMostShown = 64;  // ranks in the evidence
constexpr std::string_view kHidden =
    "waits for other ranks are in the backward pass or on the GPU's queue, so all ranks look "
    "alike; "
    "that needs operator traces";

// A rank's own work: a step without its waits for others.
Duration Own(const StepSums& sums) {
  return sums.MeanWall() - sums.MeanPhase(Phase::kCommunication);
}

struct RankWindow {
  std::map<int, StepSums, std::less<>> ranks;
  std::optional<Time> first;  // start of the first step

  template <typename State>
  void Fields(State& state) {
    state("ranks", ranks, [] { return StepSums(); });
    state("first", first);
  }
};

struct Rank {
  std::string node;
  StepSums sums;  // sums of the compared windows
  std::int64_t windows = 0,
               slow = 0;  // compared windows; windows in which it was slower by the threshold
  double slow_s = 0;      // step time of the slow windows
  double lost_s = 0;      // own time above the median rank's
  bool active = false;    // the newest window is slow
  // Begin of the first slow window; end of the newest slow window, and of the window at which it
  // fired.
  std::optional<Time> first, slow_until, fired;

  template <typename State>
  void Fields(State& state) {
    state("node", node);
    state("sums", sums);
    state("windows", windows);
    state("slow", slow);
    state("slow_s", slow_s);
    state("lost_s", lost_s);
    state("active", active);
    state("first", first);
    state("slow_until", slow_until);
    state("fired", fired);
  }
};

class StragglerFold : public FieldsFold<StragglerFold> {
 public:
  StragglerFold(const Params& params, const JobFacts& facts)
      : threshold_(params["threshold"] / 100),
        min_steps_(static_cast<std::int64_t>(params["min_steps"])),
        hidden_(std::ranges::any_of(facts.ranks, &RankFacts::hides_communication)) {}

  void Observe(const StepView& steps) override;
  void Observe(const TickView&) override {}
  void Scan(Time at) override;
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }

  template <typename State>
  void Fields(State& state) {
    state("findings", findings_);
    state("windows", windows_);
    state("ranks", ranks_, [] { return Rank(); });
  }

 private:
  bool IsJudged(const Rank& rank) const {
    return rank.windows >= kLeastWindows && rank.sums.steps() >= min_steps_;
  }
  void Compare(Time start, const RankWindow& window);
  void Count(int number, const StepSums& sums, Duration median, Time from, Time end);
  StepSums Others(int number) const;
  const std::pair<const int, Rank>* Worst() const;
  std::string Describe(int number, const Rank& rank) const;
  std::string Reason() const;

  double threshold_;
  std::int64_t min_steps_;
  bool hidden_;

  FindingTrack findings_;
  MinuteBuckets<RankWindow> windows_;
  std::map<int, Rank, std::less<>> ranks_;
};

void StragglerFold::Observe(const StepView& steps) {
  if (steps.steps.empty()) return;
  Rank& rank = ranks_[steps.rank];
  if (rank.node.empty()) rank.node = steps.node;
  for (const Step& step : steps.steps) {
    RankWindow* window = windows_.At(EndedAt(step));
    if (window == nullptr) continue;
    window->ranks[steps.rank].Add(step);
    window->first = std::min(window->first.value_or(step.start), step.start);
  }
}

void StragglerFold::Scan(Time at) {
  windows_.Close(at, [this](Time start, const RankWindow& window) { Compare(start, window); });
}

void StragglerFold::Compare(Time start, const RankWindow& window) {
  const Time end = start + MinuteBuckets<RankWindow>::kLength;
  if (window.ranks.size() < 2) return;
  std::vector<Duration> own;
  for (const auto& [number, sums] : window.ranks) own.push_back(Own(sums));
  const auto middle = own.begin() + static_cast<std::ptrdiff_t>((own.size() - 1) / 2);
  std::ranges::nth_element(own, middle);
  // A minute may begin before the training does.
  const Time from = std::max(start, *window.first);
  for (const auto& [number, sums] : window.ranks) Count(number, sums, *middle, from, end);
}

void StragglerFold::Count(int number, const StepSums& sums, Duration median, Time from, Time end) {
  Rank& rank = ranks_[number];
  const double more = std::chrono::duration<double>(Own(sums) - median).count();
  const double limit = std::chrono::duration<double>(median).count() * threshold_;
  rank.active = more > limit && median > Duration::zero();
  const Time start = end - MinuteBuckets<RankWindow>::kLength;
  if (rank.slow_until == start) from = start;  // the stretch goes on
  rank.sums.Add(sums);
  ++rank.windows;
  if (rank.active) {
    ++rank.slow;
    rank.slow_s += ToSeconds(sums.wall());
    rank.lost_s += more * static_cast<double>(sums.steps());
    if (!rank.first) rank.first = from;
    rank.slow_until = end;
  }
  const bool fires = !rank.fired && IsJudged(rank) && 2 * rank.slow > rank.windows;
  if (fires) rank.fired = end;
  // It may fire at a window that is not slow, because of the windows before it.
  if (!rank.fired || !(fires || rank.active)) return;
  findings_.Trigger({rank.node, "", number}, fires ? *rank.first : from, *rank.slow_until,
                    Describe(number, rank),
                    {{"slow_windows", rank.slow}, {"windows", rank.windows}});
}

StepSums StragglerFold::Others(int number) const {
  StepSums others;
  for (const auto& [other, rank] : ranks_) {
    if (other != number) others.Add(rank.sums);
  }
  return others;
}

std::string StragglerFold::Describe(int number, const Rank& rank) const {
  const StepSums others = Others(number);
  return Format(
      "Rank {} on node {} worked {} on a step, the other ranks {}; it was more than {:g} % slower "
      "than the median rank in {} of {} minutes, {}.",
      number, rank.node, StepText(Own(rank.sums)), StepText(Own(others)), threshold_ * 100,
      Grouped(rank.slow), Grouped(rank.windows), WhatGrew(rank.sums, others));
}

const std::pair<const int, Rank>* StragglerFold::Worst() const {
  const std::pair<const int, Rank>* worst = nullptr;
  for (const auto& rank : ranks_) {
    if (!IsJudged(rank.second)) continue;
    const auto key = [](const auto& of) {
      return std::pair(of.second.fired.has_value(), of.second.lost_s);
    };
    if (worst == nullptr || key(rank) > key(*worst)) worst = &rank;
  }
  return worst;
}

std::string StragglerFold::Reason() const {
  if (ranks_.empty()) return "no steps reported";
  if (ranks_.size() == 1) return "one rank has nobody to wait for";
  std::int64_t windows = 0, steps = 0;
  for (const auto& [number, rank] : ranks_) {
    windows = std::max(windows, rank.windows);
    steps = std::max(steps, rank.sums.steps());
  }
  return Format("{} of {} minutes and {} of {} steps compared", windows, kLeastWindows,
                Grouped(steps), Grouped(min_steps_));
}

Verdict StragglerFold::Judge() const {
  const auto* worst = Worst();
  if (worst == nullptr) return Unknown(Reason());
  if (hidden_ && !worst->second.fired) return Unknown(std::string(kHidden));
  Verdict verdict;
  const Rank& rank = worst->second;
  verdict.kind = rank.fired ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.sentence = Describe(worst->first, rank);
  Json rows = Json::array();
  for (const auto& [number, each] : ranks_) {
    if (rows.size() == kMostShown) break;
    rows.push_back({{"rank", number},
                    {"node", each.node},
                    {"own_seconds", std::chrono::duration<double>(Own(each.sums)).count()},
                    {"phase_seconds", PhaseSeconds(each.sums)},
                    {"steps", each.sums.steps()},
                    {"slow_windows", each.slow},
                    {"windows", each.windows}});
    if (each.fired) {
      verdict.fired = std::min(verdict.fired.value_or(*each.fired), *each.fired);
      verdict.active = verdict.active || each.active;
    }
  }
  verdict.evidence = {{"findings_left_out", findings_.left_out()}, {"ranks", std::move(rows)}};
  if (!rank.fired) return verdict;
  const double wall_s = ToSeconds(rank.sums.wall());
  verdict.share = std::min(1.0, rank.slow_s / wall_s);
  verdict.severity = SeverityOfLoss(rank.lost_s / wall_s);
  return verdict;
}

}  // namespace

RuleType Straggler() {
  // The metric is needed only to see how much time has passed.
  static constexpr std::string_view kMetrics[] = {"node_cpu_percent"};
  return {
      .name = "Straggler",
      .sentence =
          "One rank's own work takes longer than that of the others, so that all wait for it.",
      .fires =
          "In more than half of the minutes, at least three, the steps of one rank without its "
          "waits for others are longer than those of the median rank by more than threshold.",
      .advice =
          "Look at that rank's node: other processes, slow or hot GPU, slow disk or network; "
          "and "
          "at its part of the data: longer samples make longer steps.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kAll,
      .make = MakeFold<StragglerFold>,
  };
}

}  // namespace stepscope
