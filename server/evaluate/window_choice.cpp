#include "server/evaluate/window_choice.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr double kSteady = 0.25;      // steps that deviate by more have no usual length
constexpr double kSlowerSteps = 0.2;  // steps under the profiler take longer by this, about
// The slow step is the third of a window's four: the step before it says what is usual, and the
// rule's period is rounded.
constexpr std::int64_t kBeforeSlow = 2;
constexpr std::int64_t kMostPeriod = std::int64_t{1} << 40, kMostNumber = std::int64_t{1} << 53;
constexpr std::string_view kExplained[] = {
    "FrameworkOverhead",  "LowGPUUtilization", "Straggler",     "LoadBalancing",
    "StepTimeRegression", "StepTimeTrend",     "PeriodicStall", "CommunicationBottleneck",
};
constexpr std::string_view kByTheTraining[] = {"person", "script", "start_profiling", "schedule"};

Duration Seconds(double seconds) {
  return Duration(std::llround(seconds * 1e9));
}

bool IsAutomatic(const WindowCost& window) {
  return std::ranges::find(kByTheTraining, window.asked_by) == std::end(kByTheTraining);
}

// Why the next one would have to wait, or "".
std::string WhyNotYet(const WindowSituation& situation) {
  const StepPulse& steps = situation.steps;
  if (steps.newest < kEarlyAfter || steps.count < static_cast<std::size_t>(kEarlyAfter)) {
    return Format("fewer than {} steps were seen lately", kEarlyAfter);
  }
  if (steps.deviation > kSteady) {
    return Format("steps have no usual length: half of them differ by {:.0f} % or more",
                  steps.deviation * 100);
  }
  for (const WindowCost& window : situation.windows) {
    const Duration since = situation.now - FromMicros(window.asked_us);
    if (IsAutomatic(window) && since < kBetweenWindows) {
      return Format("window {} was {:.0f} s ago, and one in {} is the most", window.window_id,
                    ToSeconds(since), ToText(kBetweenWindows));
    }
  }
  return "";
}

// What one more would cost: as much as the newest one, or else what the first one may.
Duration ExpectedCost(const WindowSituation& situation) {
  for (const WindowCost& window : situation.windows) {
    if (window.ranks > 0) return Seconds(window.cost_seconds);
  }
  const Duration begin_and_end = situation.gpus ? kFirstCostOnGpu : kFirstCost;
  return begin_and_end +
         Seconds(ToSeconds(situation.steps.median) * double(kAutomaticSteps) * kSlowerSteps);
}

std::string WhyTooDear(const WindowSituation& situation) {
  double spent = 0;
  for (const WindowCost& window : situation.windows) {
    if (IsAutomatic(window)) spent += window.cost_seconds;
  }
  const double next = ToSeconds(ExpectedCost(situation));
  const double budget = kWindowBudget * ToSeconds(situation.now - situation.began);
  if (spent + next <= budget) return "";
  return Format(
      "windows have cost {:.3f} s and the next would cost about {:.3f} s; {:.1f} % of the job's "
      "time "
      "is {:.3f} s",
      spent, next, kWindowBudget * 100, budget);
}

// Who would ask for the next one; "" for nobody.
std::string AskerOf(const WindowSituation& situation) {
  const auto asked = [&](std::string_view by) {
    return std::ranges::find(situation.windows, by, &WindowCost::asked_by) !=
           situation.windows.end();
  };
  for (const std::string& rule : situation.fired) {
    if (IsExplainedByWindow(rule) && !asked(rule)) return rule;
  }
  const bool any = std::ranges::any_of(situation.windows,
                                       [](const WindowCost& window) { return window.ranks > 0; });
  return any || asked(kEarly) ? "" : std::string(kEarly);
}

// A whole number of the object from 0 to `most`, or -1.
std::int64_t WholeIn(const Json& object, const char* key, std::int64_t most) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return -1;
  const auto number = found->get<double>();
  return number >= 0 && number <= static_cast<double>(most) ? std::llround(number) : -1;
}

bool IsTrue(const Json& object, const char* key) {
  return object.value(key, Json()) == Json(true);
}

double CostIn(const Json& rhythm) {
  const Json cost = rhythm.value("cost", Json());
  return cost.is_number() ? cost.get<double>() : 0;
}

// The first step from `earliest` on with which a window has the next slow step in it; `earliest`
// where the newest steps are before the stall, as in a job that counts its steps anew.
std::int64_t BeforeSlowStep(const StallRhythm& stalls, std::int64_t newest, std::int64_t earliest) {
  if (stalls.newest_step > newest || stalls.every_steps <= kBeforeSlow + 1) return earliest;
  const std::int64_t ahead = earliest + kBeforeSlow - stalls.newest_step;
  const std::int64_t periods =
      std::max<std::int64_t>(1, (ahead + stalls.every_steps - 1) / stalls.every_steps);
  return stalls.newest_step + periods * stalls.every_steps - kBeforeSlow;
}

}  // namespace

std::optional<StallRhythm> RhythmIn(const Json& verdict) {
  std::optional<StallRhythm> costliest;
  double cost = -1;
  const Json evidence = verdict.is_object() ? verdict.value("evidence", Json()) : Json();
  const Json ranks = evidence.is_object() ? evidence.value("ranks", Json()) : Json();
  for (const Json& rank : ranks.is_array() ? ranks : Json::array()) {
    const Json rhythms = rank.is_object() ? rank.value("rhythms", Json()) : Json();
    for (const Json& rhythm : rhythms.is_array() ? rhythms : Json::array()) {
      if (!rhythm.is_object() || !IsTrue(rhythm, "fires") || !IsTrue(rhythm, "active")) continue;
      const std::int64_t number = WholeIn(rank, "rank", 1'048'575);
      const std::int64_t every = WholeIn(rhythm, "every_steps", kMostPeriod);
      const std::int64_t ended = WholeIn(rhythm, "to_us", kMostNumber);
      if (number < 0 || every < 1 || ended < 0 || CostIn(rhythm) <= cost) continue;
      cost = CostIn(rhythm);
      costliest = StallRhythm{static_cast<int>(number), every, ended, 0};
    }
  }
  return costliest;
}

bool IsExplainedByWindow(std::string_view rule) {
  return std::ranges::find(kExplained, rule) != std::end(kExplained);
}

WindowChoice ChooseWindow(const WindowSituation& situation) {
  const std::string by = AskerOf(situation);
  if (by.empty()) return {};
  const auto refused = [](std::string note) { return WindowChoice{.note = std::move(note)}; };
  if (!situation.slowdown.empty()) return refused(situation.slowdown);
  if (!situation.unrecorded.empty()) {
    return refused("the last one was not recorded: " + situation.unrecorded);
  }
  if (std::string reason = WhyNotYet(situation); !reason.empty()) return refused(reason);
  if (std::string reason = WhyTooDear(situation); !reason.empty()) return refused(reason);
  const std::int64_t earliest = EarliestStep(situation.steps, situation.now);
  if (by != kPeriodicStall || !situation.stalls) {
    return {.start_step = earliest, .asked_by = by, .note = ""};
  }
  const std::int64_t first = BeforeSlowStep(*situation.stalls, situation.steps.newest, earliest);
  const double away =
      static_cast<double>(first - situation.steps.newest) * ToSeconds(situation.steps.median);
  if (away > ToSeconds(kFurthest)) {
    return refused(
        Format("the next slow step is about step {}, {:.0f} s ahead; one within {} is "
               "asked for",
               first + kBeforeSlow, away, ToText(kFurthest)));
  }
  return {.start_step = first, .asked_by = by, .note = ""};
}

}  // namespace stepscope
