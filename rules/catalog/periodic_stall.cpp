// Slow steps recur every N steps: something that is called, written or sent every so often holds
// the training up.
//
// A step is slow when it takes `factor` times the median of the 256 steps before it; slow steps in
// a row are one stall (rules/signals/rank_stalls.h). rules/signals/rhythm.h decides when stalls
// have a rhythm, and with which certainty; rules/signals/host_activity.h finds the unusual activity
// of their node in each of them.

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "rules/engine/finding_track.h"
#include "rules/engine/firing_time.h"
#include "rules/engine/sentence.h"
#include "rules/signals/rank_stalls.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"min_repeats", 5, 3, 100, "repeats",
     "How often slow steps must recur, each as many steps after the last."},
    {"factor", 1.5, 1.1, 1'000, "", "A step is slow from this many times the usual one on."},
};
constexpr std::int64_t kLeastSteps = 100;  // steps before there is a verdict
constexpr double kLeastCost = 0.01;        // part of the time; a rhythm that costs less is no issue
constexpr std::int64_t kFew = 2;           // times the slow steps that a rhythm needs
constexpr std::size_t kMostShown = 64;     // ranks in the evidence
constexpr std::size_t kMostRhythms = 3;    // rhythms of each rank

bool Fires(const Rhythm& rhythm) {
  return rhythm.Cost() >= kLeastCost && !rhythm.IsOwnWork();
}

// Whether the stalls are waits for batches: a slow loader with n workers lets each n-th step wait.
bool IsOfLoader(const Rhythm* rhythm) {
  return rhythm != nullptr && rhythm->Grew() == static_cast<std::size_t>(Phase::kData);
}

constexpr std::string_view kLoaderAdvice =
    "The slow steps wait for batches: give the data loader more workers or less to do for each "
    "sample, or keep its files nearer. Fewer checkpoints or logs would change nothing.";

std::int64_t EachNs(const Rhythm& rhythm) {
  return rhythm.excess_ns / std::max<std::int64_t>(rhythm.beats, 1);
}

struct Rank {
  RankStalls stalls;
  std::optional<Time> fired;
  FiringTime time;  // time of the rank's rhythms, from the first beat to the newest

  template <typename State>
  void Fields(State& state) {
    state("stalls", stalls);
    state("fired", fired);
    state("time", time);
  }

  // The rhythms that cost most; rhythms that fire come before all others.
  std::vector<const Rhythm*> Costliest(std::size_t most) const {
    std::vector<const Rhythm*> rhythms;
    for (const auto& [number, each] : stalls.rhythms().all()) rhythms.push_back(&each);
    std::ranges::stable_sort(rhythms, std::ranges::greater(), [](const Rhythm* each) {
      return std::pair(Fires(*each), each->excess_ns);
    });
    rhythms.resize(std::min(rhythms.size(), most));
    return rhythms;
  }
  // The costliest rhythm; null without any.
  const Rhythm* Main() const {
    const auto main = Costliest(1);
    return main.empty() ? nullptr : main.front();
  }
  // What the stalls of a rhythm took more than usual steps, as a part of all the rank's step time,
  // 0 to 1; how much it costs while it lasts is Cost.
  double PartOf(const Rhythm& rhythm) const {
    const auto wall_ns = static_cast<double>(stalls.wall().count());
    return std::min(1.0, static_cast<double>(rhythm.excess_ns) / std::max(wall_ns, 1.0));
  }
  double Lost() const {
    double lost = 0;
    for (const auto& [number, each] : stalls.rhythms().all()) {
      if (Fires(each)) lost += PartOf(each);
    }
    return std::min(1.0, lost);
  }
  bool IsActive() const {
    return std::ranges::any_of(stalls.rhythms().all(), [this](const auto& each) {
      return Fires(each.second) && !each.second.IsOver(stalls.position());
    });
  }
};

class StallFold : public FieldsFold<StallFold> {
 public:
  StallFold(const Params& params, const JobFacts& facts)
      : limits_{params["factor"], static_cast<std::int64_t>(params["min_repeats"])},
        facts_(facts) {}

  void Observe(const StepView& steps) override;
  void Observe(const TickView& ticks) override {
    if (ticks.first < ticks.end) NodeOf(ticks.node).Observe(ticks);
  }
  void Scan(Time at) override;
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }

  template <typename State>
  void Fields(State& state) {
    state("findings", findings_);
    state("nodes", nodes_, [this] { return HostActivity(facts_.interval); });
    state("ranks", ranks_, [] { return Rank(); });
  }

 private:
  using RankRow = std::pair<const int, Rank>;

  HostActivity& NodeOf(std::string_view name);
  int CoresOf(std::string_view name) const;
  void Trigger(int number, Rank& rank, const Rhythm& beaten);
  std::string Describe(int number, const Rank& rank, const Rhythm& rhythm) const;
  std::string WithoutRhythm(int number, const Rank& rank) const;
  std::string Sentence(const RankRow& row) const;
  Json Evidence() const;

  RankStalls::Limits limits_;
  JobFacts facts_;

  FindingTrack findings_;
  std::map<std::string, HostActivity, std::less<>> nodes_;
  std::map<int, Rank, std::less<>> ranks_;
};

HostActivity& StallFold::NodeOf(std::string_view name) {
  const auto found = nodes_.find(name);
  if (found != nodes_.end()) return found->second;
  return nodes_.emplace(std::string(name), HostActivity(facts_.interval)).first->second;
}

int StallFold::CoresOf(std::string_view name) const {
  const auto found = std::ranges::find(facts_.nodes, name, &NodeFacts::name);
  return found == facts_.nodes.end() ? 1 : found->cores;
}

void StallFold::Observe(const StepView& steps) {
  if (steps.steps.empty()) return;
  Rank& rank = ranks_[steps.rank];
  if (rank.stalls.steps() == 0) rank.stalls = RankStalls(std::string(steps.node));
  for (const Step& step : steps.steps) {
    rank.time.Saw(step.start, EndedAt(step));
    const Rhythm* beaten = rank.stalls.Add(step, limits_);
    if (beaten != nullptr && Fires(*beaten)) Trigger(steps.rank, rank, *beaten);
  }
}

// Each beat makes the stretch of the first beats longer.
void StallFold::Trigger(int number, Rank& rank, const Rhythm& beaten) {
  if (!rank.fired) rank.fired = beaten.to;
  rank.time.Fired(beaten.from, beaten.to);
  const Rhythm& main = *rank.Main();
  findings_.Trigger({rank.stalls.node(), "", number}, beaten.from, beaten.to,
                    Describe(number, rank, main) + ".",
                    {{"every_steps", std::round(main.period)},
                     {"repeats", main.beats - 1},
                     {"seconds_each", static_cast<double>(EachNs(main)) / 1e9},
                     {"cost", main.Cost()},
                     {"grew", main.GrewText()}});
}

void StallFold::Scan(Time at) {
  for (auto& [number, rank] : ranks_) {
    const std::string& node = rank.stalls.node();
    rank.stalls.Scan(at, NodeOf(node), CoresOf(node));
  }
}

std::string StallFold::Describe(int number, const Rank& rank, const Rhythm& rhythm) const {
  const auto usual_ns = static_cast<double>(std::max<std::int64_t>(rank.stalls.Usual().count(), 1));
  return Format(
      "About every {} steps rank {} takes {} longer, {:.1f} times its usual step of {} ({} times), "
      "together {:.1f} % of the step time, mostly {}",
      Grouped(std::llround(rhythm.period)), number, StepText(Duration(EachNs(rhythm))),
      1 + static_cast<double>(EachNs(rhythm)) / usual_ns, StepText(rank.stalls.Usual()),
      Grouped(rhythm.beats), rank.PartOf(rhythm) * 100, rhythm.GrewText());
}

// Few slow steps may well be the first of a rhythm, with others between them.
std::string StallFold::WithoutRhythm(int number, const Rank& rank) const {
  const std::int64_t slow = rank.stalls.rhythms().runs();
  const std::string what = Format("of {} steps of rank {} {} longer than {:g} times its usual {}",
                                  Grouped(rank.stalls.steps()), number, slow == 1 ? "was" : "were",
                                  limits_.factor, StepText(rank.stalls.Usual()));
  if (slow == 0) return Format("None {}.", what);
  const bool few = slow <= kFew * (limits_.min_repeats + 1);
  return Format("{} {}: {}.", Grouped(slow), what,
                few ? "too few to know whether they have a rhythm" : "they have no rhythm");
}

std::string StallFold::Sentence(const RankRow& row) const {
  const auto& [number, rank] = row;
  const Rhythm* main = rank.Main();
  if (main == nullptr) return WithoutRhythm(number, rank);
  std::string text = Describe(number, rank, *main);
  const unsigned signs = main->Signs();
  if (signs > HostActivity::kSeen) {
    text += Format("; {} of its node go with it", SignsText(signs));
  } else if (signs == HostActivity::kSeen) {
    text += "; no CPU use, disk write or network send of its node goes with it";
  }
  if (IsOfLoader(main)) text += "; the data loader is the cause";
  if (main->IsOwnWork()) return text + ": gradients of some batches, no stall.";
  if (!Fires(*main)) return text + Format(": less than {:g} % while it lasted.", kLeastCost * 100);
  return text + (rank.IsActive() ? "." : ". It is over.");
}

Json StallFold::Evidence() const {
  Json ranks = Json::array();
  for (const auto& [number, rank] : ranks_) {
    if (ranks.size() == kMostShown) break;
    Json rhythms = Json::array();
    for (const Rhythm* rhythm : rank.Costliest(kMostRhythms)) {
      rhythms.push_back({{"every_steps", std::round(rhythm->period)},
                         {"beats", rhythm->beats},
                         {"missed", rhythm->missed},
                         {"from_us", ToMicros(rhythm->from)},
                         {"to_us", ToMicros(rhythm->to)},
                         {"seconds_each", static_cast<double>(EachNs(*rhythm)) / 1e9},
                         {"cost", rhythm->Cost()},
                         {"grew", rhythm->GrewText()},
                         {"host", SignsText(rhythm->Signs())},
                         {"fires", Fires(*rhythm)},
                         {"active", !rhythm->IsOver(rank.stalls.position())}});
    }
    ranks.push_back({{"rank", number},
                     {"node", rank.stalls.node()},
                     {"steps", rank.stalls.steps()},
                     {"slow", rank.stalls.rhythms().runs()},
                     {"usual_seconds", ToSeconds(rank.stalls.Usual())},
                     {"rhythms", std::move(rhythms)}});
  }
  return {{"findings_left_out", findings_.left_out()}, {"ranks", std::move(ranks)}};
}

Verdict StallFold::Judge() const {
  Verdict verdict;
  const RankRow* worst = nullptr;
  const auto order = [](const RankRow& row) {
    const Rhythm* main = row.second.Main();
    return std::tuple(row.second.fired.has_value(), main == nullptr ? 0 : main->excess_ns,
                      row.second.stalls.rhythms().runs(), row.second.stalls.steps(), -row.first);
  };
  for (const RankRow& row : ranks_) {
    if (worst == nullptr || order(row) > order(*worst)) worst = &row;
    if (!row.second.fired) continue;
    verdict.fired = std::min(verdict.fired.value_or(*row.second.fired), *row.second.fired);
    verdict.active = verdict.active || row.second.IsActive();
  }
  if (worst == nullptr) return Unknown("no steps reported");
  if (const std::int64_t steps = worst->second.stalls.steps(); steps < kLeastSteps) {
    return Unknown(Format("{} of {} steps seen", steps, kLeastSteps));
  }
  verdict.kind = verdict.fired ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.sentence = Sentence(*worst);
  verdict.evidence = Evidence();
  if (!verdict.fired) return verdict;
  verdict.share = worst->second.time.Share();
  verdict.severity = SeverityOfLoss(worst->second.Lost());
  if (IsOfLoader(worst->second.Main())) verdict.evidence["advice"] = kLoaderAdvice;
  return verdict;
}

}  // namespace

RuleType PeriodicStall() {
  return {
      .name = "PeriodicStall",
      .sentence = "Slow steps recur every N steps: callbacks, checkpoints or uploads.",
      .fires =
          "Steps of factor times the usual length or more recur every N steps, at least "
          "min_repeats times, more regularly than chance, and cost 1 % of the time or more. Growth "
          "in backward, communication or optimizer every 64 steps or less is the job's own rhythm "
          "(gradients of several batches).",
      .advice =
          "Do what recurs less often, or on another thread or process: evaluate and log less, "
          "write checkpoints asynchronously and to a fast disk first, upload them in the "
          "background.",
      .params = kParams,
      .metrics = HostActivity::Metrics(),
      .steps = StepNeed::kAll,
      .make = MakeFold<StallFold>,
  };
}

}  // namespace stepscope
