// No rank ends a step for a long time.

#include <algorithm>
#include <chrono>

#include "core/base/text.h"
#include "rules/engine/finding_track.h"
#include "rules/engine/sentence.h"
#include "rules/engine/state.h"
#include "rules/signals/minute_buckets.h"
#include "rules/signals/step_times.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 1800, 1, 604'800, "s", "Time without a step that is a stall."},
    {"factor", 20, 1, 1'000'000, "",
     "So is this many times the 99th percentile of the steps, from 5 minutes on."},
};
// Short steps make short limits; checkpoints and evaluation between steps are no stall.
constexpr Duration kLeastLimit = 5min;
constexpr std::int64_t kLeastSteps = 100;  // steps needed for a percentile

struct StepWindow {
  std::optional<Time> first, last;  // ends of the first and the newest step of any rank
  StepTimes times;

  template <typename State>
  void Fields(State& state) {
    state("first", first);
    state("last", last);
    state("times", times);
  }
};

class StalledFold : public FieldsFold<StalledFold> {
 public:
  StalledFold(const Params& params, const JobFacts& facts)
      : threshold_(static_cast<std::int64_t>(params["threshold"] * 1e9)),
        factor_(params["factor"]) {
    // Once all processes have ended nobody is expected to step.
    const auto by_end = [](const RankFacts& rank) { return rank.ended.value_or(Time::max()); };
    const auto last = std::ranges::max_element(facts.ranks, {}, by_end);
    if (last != facts.ranks.end()) ended_ = last->ended;
  }

  void Observe(const StepView& steps) override;
  void Observe(const TickView&) override {}
  void Scan(Time at) override;
  Time NextCheck(Time at) const override;
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }

  template <typename State>
  void Fields(State& state) {
    state("findings", findings_);
    state("windows", windows_);
    state("times", times_);
    state("first", first_);
    state("last", last_);
    state("scanned", scanned_);
    state("fired", fired_);
    state("longest_s", longest_s_);
    state("stalled_s", stalled_s_);
    state("open_s", open_s_);
  }

 private:
  Duration Limit() const;
  bool Pause(Time until);
  std::int64_t Steps() const;

  Duration threshold_;
  double factor_;
  std::optional<Time> ended_;

  FindingTrack findings_;
  MinuteBuckets<StepWindow> windows_;
  StepTimes times_;
  std::optional<Time> first_, last_;  // ends of the first step and of the newest before the scan
  std::optional<Time> scanned_, fired_;
  // Seconds of the longest pause; of stalls that are over; of the stall that goes on.
  double longest_s_ = 0, stalled_s_ = 0, open_s_ = 0;
};

void StalledFold::Observe(const StepView& steps) {
  for (const Step& step : steps.steps) {
    const Time end = EndedAt(step);
    StepWindow* window = windows_.At(end);
    if (window == nullptr) continue;
    window->first = std::min(window->first.value_or(end), end);
    window->last = std::max(window->last.value_or(end), end);
    window->times.Add(std::max(step.wall, Duration::zero()));
  }
}

Duration StalledFold::Limit() const {
  if (times_.count() < kLeastSteps) return threshold_;
  const double p99 = static_cast<double>(times_.Percentile(0.99).count());
  const auto usual = static_cast<std::int64_t>(std::min(p99 * factor_, 9e18));
  return std::min(threshold_, std::max(kLeastLimit, Duration(usual)));
}

// Records that no step ended between the newest and `until`; returns whether that is a stall.
bool StalledFold::Pause(Time until) {
  const double seconds = std::chrono::duration<double>(until - *last_).count();
  longest_s_ = std::max(longest_s_, seconds);
  if (until - *last_ <= Limit()) return false;
  if (!fired_) fired_ = *last_ + Limit();
  findings_.Trigger(
      {}, *last_, until,
      Format("No step ended for {}; the limit is {}.", LengthText(until - *last_),
             LengthText(Limit())),
      {{"seconds", seconds}, {"limit_seconds", std::chrono::duration<double>(Limit()).count()}});
  return true;
}

void StalledFold::Scan(Time at) {
  windows_.Close(at, [this](Time, const StepWindow& window) {
    if (last_ && *window.first > *last_ && Pause(*window.first)) {
      stalled_s_ += std::chrono::duration<double>(*window.first - *last_).count();
    }
    if (!first_) first_ = window.first;
    last_ = std::max(last_.value_or(*window.last), *window.last);
    times_.Add(window.times);
  });
  scanned_ = at;
  open_s_ = 0;
  if (!last_) return;
  Time until = ended_ ? std::min(at, *ended_) : at;
  const auto& open = windows_.open();
  if (!open.empty()) until = std::min(until, *open.begin()->second.first);
  if (until <= *last_ || !Pause(until)) return;
  open_s_ = std::chrono::duration<double>(until - *last_).count();
}

Time StalledFold::NextCheck(Time at) const {
  std::optional<Time> last = last_;
  for (const auto& [minute, window] : windows_.open()) {
    if (*window.first <= at) last = std::max(last.value_or(*window.last), *window.last);
  }
  if (fired_ || !last) return Time::max();
  const Time limit = *last + Limit() + 1us;
  return ended_ && limit > *ended_ ? Time::max() : std::max(at, limit);
}

// Counts the steps of minutes that are not over, too.
std::int64_t StalledFold::Steps() const {
  std::int64_t steps = times_.count();
  for (const auto& [minute, window] : windows_.open()) steps += window.times.count();
  return steps;
}

Verdict StalledFold::Judge() const {
  if (!last_) return Unknown("no steps reported in a whole minute");
  const auto longest = Duration(static_cast<std::int64_t>(longest_s_ * 1e9));
  Verdict verdict;
  verdict.kind = fired_ ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.sentence = Format("The longest time without a step was {}; the limit is {} ({} seen).",
                            LengthText(longest), LengthText(Limit()), CountText(Steps(), "step"));
  verdict.evidence = {
      {"longest_seconds", longest_s_},
      {"limit_seconds", std::chrono::duration<double>(Limit()).count()},
      {"stalled_seconds", stalled_s_ + open_s_},
      {"p99_seconds", std::chrono::duration<double>(times_.Percentile(0.99)).count()}};
  if (!fired_) return verdict;
  verdict.fired = fired_;
  verdict.active = open_s_ > 0;
  const Time until = ended_ ? std::min(*scanned_, std::max(*ended_, *last_)) : *scanned_;
  const double watched = ToSeconds(until - *first_);
  verdict.share = std::clamp((stalled_s_ + open_s_) / std::max(watched, 1e-9), 0.0, 1.0);
  verdict.severity = SeverityOfLoss(verdict.share);
  if (verdict.active) verdict.sentence += " It goes on.";
  return verdict;
}

}  // namespace

RuleType StalledTraining() {
  // The metric is needed only to see how much time has passed.
  static constexpr std::string_view kMetrics[] = {"node_cpu_percent"};
  return {
      .name = "StalledTraining",
      .sentence = "No rank ends a step for a long time.",
      .fires =
          "No rank ends a step for threshold seconds, or for factor times the 99th percentile of "
          "the steps and at least 5 minutes. It does not once all training processes have ended.",
      .advice =
          "Look at the last output of each rank, at what its processes wait for (a collective "
          "that "
          "one rank never entered, a file server, a lock), and at the nodes that went silent.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kAll,
      .make = MakeFold<StalledFold>,
  };
}

}  // namespace stepscope
