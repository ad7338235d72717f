// No rank ends a step for a long time.

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "core/base/text.h"
#include "rules/engine/finding_track.h"
#include "rules/engine/sentence.h"
#include "rules/engine/state.h"
#include "rules/signals/alive_minute.h"
#include "rules/signals/minute_buckets.h"
#include "rules/signals/step_times.h"
#include "rules/stats/columns.h"

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
constexpr std::size_t kMostRanks = 4'096;  // ranks whose evaluations are told apart
constexpr int kTogether = 3;               // ticks between two samples of one evaluation

constexpr std::string_view kMetrics[] = {"node_cpu_percent", "rank_evaluating_percent"};

// The newest stretch in which a rank evaluated.
struct Evaluation {
  Time from{}, to{};

  template <typename State>
  void Fields(State& state) {
    state("from", from);
    state("to", to);
  }
};

class StalledFold : public FieldsFold<StalledFold> {
 public:
  StalledFold(const Params& params, const JobFacts& facts)
      : threshold_(static_cast<std::int64_t>(params["threshold"] * 1e9)),
        factor_(params["factor"]),
        interval_(std::clamp<Duration>(facts.interval, 1ms, 60s)) {
    // Once all processes have ended nobody is expected to step.
    const auto by_end = [](const RankFacts& rank) { return rank.ended.value_or(Time::max()); };
    const auto last = std::ranges::max_element(facts.ranks, {}, by_end);
    if (last != facts.ranks.end()) ended_ = last->ended;
  }

  void Observe(const StepView& steps) override;
  void Observe(const TickView& ticks) override;
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
    state.Added("stepped", stepped_);
    state.Added("evaluations", evaluations_, [] { return Evaluation(); });
    state.Added("evaluated", evaluated_);
    state.Added("active", active_);
    state.Added("halted", halted_);
    state("scanned", scanned_);
    state("fired", fired_);
    state("longest_s", longest_s_);
    state("stalled_s", stalled_s_);
    state("open_s", open_s_);
  }

 private:
  using Evaluations = std::map<std::string, Evaluation, std::less<>>;

  Duration Limit() const;
  bool Pause(Time from, Time until);
  Time Walk(Time minute, const AliveMinute& window, Time alive, Time end, double& stalled_s);
  std::int64_t Steps() const;
  void Evaluates(const std::string& device, Time at);
  std::string EvaluationText() const;

  Duration threshold_;
  double factor_;
  Duration interval_;
  std::optional<Time> ended_;

  FindingTrack findings_;
  MinuteBuckets<AliveMinute> windows_;
  StepTimes times_;
  // The end of the first step; the newest sign of life, and the end of the newest step, before the
  // scan.
  std::optional<Time> first_, last_, stepped_;
  Evaluations evaluations_;  // by the device of the rank
  bool evaluated_ = false, active_ = false;
  bool halted_ = false;  // no step ended between a stall and the newest sample
  std::optional<Time> scanned_, fired_;
  // Seconds of the longest pause; of stalls that are over; of those that minutes have which are not
  // over.
  double longest_s_ = 0, stalled_s_ = 0, open_s_ = 0;
};

void StalledFold::Observe(const StepView& steps) {
  for (const Step& step : steps.steps) {
    const Time end = EndedAt(step);
    AliveMinute* window = windows_.At(end);
    if (window == nullptr) continue;
    window->first = std::min(window->first.value_or(end), end);
    window->last = std::max(window->last.value_or(end), end);
    window->times.Add(std::max(step.wall, Duration::zero()));
    window->Live(end);
  }
}

void StalledFold::Observe(const TickView& ticks) {
  for (const DeviceColumn& each : ColumnsOf(ticks, kMetrics[1])) {
    for (std::size_t row = ticks.first; row < ticks.end; ++row) {
      if (each.Has(row) && each.column->At(row) > 0) Evaluates(each.device, ticks.At(row));
    }
  }
}

// A sample tells of the time since the one before it; earlier minutes may be over already.
void StalledFold::Evaluates(const std::string& device, Time at) {
  AliveMinute* window = windows_.At(at);
  if (window == nullptr || evaluations_.size() >= kMostRanks) return;
  evaluated_ = true;
  const Time minute = FromMicros(ToMicros(at) / 60'000'000 * 60'000'000);
  for (Time second = std::max(minute, at - interval_); second < at; second += 1s) {
    window->Live(second);
  }
  window->Live(at);
  Evaluation& evaluation = evaluations_[device];
  if (at - evaluation.to > kTogether * interval_) evaluation.from = at - interval_;
  evaluation.to = at;
}

Duration StalledFold::Limit() const {
  if (times_.count() < kLeastSteps) return threshold_;
  const double p99 = static_cast<double>(times_.Percentile(0.99).count());
  const auto usual = static_cast<std::int64_t>(std::min(p99 * factor_, 9e18));
  return std::min(threshold_, std::max(kLeastLimit, Duration(usual)));
}

// Records that the job showed no sign of life in between; returns whether that is a stall.
bool StalledFold::Pause(Time from, Time until) {
  const double seconds = ToSeconds(until - from);
  longest_s_ = std::max(longest_s_, seconds);
  if (until - from <= Limit()) return false;
  if (!fired_) fired_ = from + Limit();
  findings_.Trigger({}, from, until,
                    Format("No step ended for {}; the limit is {}.", LengthText(until - from),
                           LengthText(Limit())),
                    {{"seconds", seconds}, {"limit_seconds", ToSeconds(Limit())}});
  return true;
}

// Records the pauses up to `end` within the minute, and the one that leads to it; returns the last
// sign of life. Seconds count as a whole, but for the ends of the first and of the last step.
Time StalledFold::Walk(Time minute, const AliveMinute& window, Time alive, Time end,
                       double& stalled_s) {
  const bool whole = end >= minute + 60s;
  const std::uint64_t seconds = window.Seconds();
  for (unsigned second = 0; second < 60; ++second) {
    Time from = minute + second * 1s, to = from + 1s;
    if ((seconds >> second & 1) == 0 || to > end) continue;
    const auto within = [&](const auto& step) { return step && *step >= from && *step < to; };
    if (within(window.first)) from = *window.first;
    if (whole && within(window.last)) to = *window.last;
    if (from > alive && Pause(alive, from)) stalled_s += ToSeconds(from - alive);
    alive = std::max(alive, to);
  }
  return alive;
}

void StalledFold::Scan(Time at) {
  windows_.Close(at, [this](Time minute, const AliveMinute& window) {
    if (!last_ && !window.first) return;  // an evaluation before the first step
    last_ = Walk(minute, window, last_ ? *last_ : *window.first, minute + 60s, stalled_s_);
    if (!window.first) return;
    if (!first_) first_ = window.first;
    stepped_ = std::max(stepped_.value_or(*window.last), *window.last);
    times_.Add(window.times);
  });
  scanned_ = at;
  open_s_ = 0;
  active_ = halted_ = false;
  if (!last_) return;
  Time alive = *last_;
  for (const auto& [minute, window] : windows_.open()) {
    const Time from = FromMicros(minute * 60'000'000);
    if (from < at) alive = Walk(from, window, alive, std::min(at, from + 59s + 999'999us), open_s_);
  }
  const Time until = ended_ ? std::min(at, *ended_) : at;
  halted_ = until > alive && Pause(alive, until);
  if (halted_) open_s_ += ToSeconds(until - alive);
  active_ = halted_ && !ended_;  // processes that ended hang no more
}

Time StalledFold::NextCheck(Time at) const {
  if (fired_ || !last_) return Time::max();
  Time alive = *last_;
  for (const auto& [minute, window] : windows_.open()) {
    for (unsigned second = 0; second < 60; ++second) {
      const Time to = FromMicros(minute * 60'000'000) + (second + 1) * 1s;
      if ((window.Seconds() >> second & 1) != 0 && to <= at) alive = std::max(alive, to);
    }
  }
  const Time limit = alive + Limit() + 1us;
  return ended_ && limit > *ended_ ? Time::max() : std::max(at, limit);
}

// Counts the steps of minutes that are not over, too.
std::int64_t StalledFold::Steps() const {
  std::int64_t steps = times_.count();
  for (const auto& [minute, window] : windows_.open()) steps += window.times.count();
  return steps;
}

// " Rank 0 has evaluated for 345 s; no step since 12:03 UTC." for the rank that has for longest.
std::string StalledFold::EvaluationText() const {
  const Evaluations::value_type* longest = nullptr;
  for (const auto& each : evaluations_) {
    const bool goes_on = scanned_ && *scanned_ - each.second.to <= kTogether * interval_;
    const bool since_step = stepped_ && each.second.to > *stepped_;
    if (!goes_on || !since_step) continue;
    if (longest == nullptr || each.second.from < longest->second.from) longest = &each;
  }
  if (longest == nullptr) return "";
  const auto& [device, evaluation] = *longest;
  const std::string rank = device.starts_with("rank") ? device.substr(4) : device;
  return Format(" Rank {} has evaluated for {}; no step since {} UTC.", rank,
                LengthText(evaluation.to - evaluation.from), ToRfc3339(*stepped_).substr(11, 5));
}

Verdict StalledFold::Judge() const {
  if (!last_) return Unknown("no steps reported in a whole minute");
  const auto longest = Duration(static_cast<std::int64_t>(longest_s_ * 1e9));
  Verdict verdict;
  verdict.kind = fired_ ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.sentence = Format("The longest time without a step{} was {}; the limit is {} ({} seen).",
                            evaluated_ ? ", evaluations apart," : "", LengthText(longest),
                            LengthText(Limit()), CountText(Steps(), "step")) +
                     EvaluationText();
  verdict.evidence = {
      {"longest_seconds", longest_s_},
      {"limit_seconds", std::chrono::duration<double>(Limit()).count()},
      {"stalled_seconds", stalled_s_ + open_s_},
      {"p99_seconds", std::chrono::duration<double>(times_.Percentile(0.99)).count()}};
  if (!fired_) return verdict;
  verdict.fired = fired_;
  verdict.active = active_;
  const Time until = ended_ ? std::min(*scanned_, std::max(*ended_, *last_)) : *scanned_;
  const double watched = ToSeconds(until - *first_);
  verdict.share = std::clamp((stalled_s_ + open_s_) / std::max(watched, 1e-9), 0.0, 1.0);
  verdict.severity = SeverityOfLoss(verdict.share);
  if (verdict.active) verdict.sentence += " It goes on.";
  if (halted_ && ended_) verdict.sentence += " The processes ended without another step.";
  return verdict;
}

}  // namespace

RuleType StalledTraining() {
  return {
      .name = "StalledTraining",
      .sentence = "No rank ends a step for a long time.",
      .fires =
          "No rank ends a step for threshold seconds, or for factor times the 99th percentile of "
          "the steps and at least 5 minutes. Time in which a rank evaluates is no stall, nor is "
          "any "
          "once all training processes have ended.",
      .advice =
          "Look at the last output of each rank, at what its processes wait for (a collective that "
          "one rank never entered, a file server, a lock), and at the nodes that went silent.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kAll,
      .make = MakeFold<StalledFold>,
  };
}

}  // namespace stepscope
