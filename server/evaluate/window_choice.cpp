#include "server/evaluate/window_choice.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr double kSteady = 0.25;      // steps that deviate by more have no usual length
constexpr double kSlowerSteps = 0.2;  // steps under the profiler take longer by this, about
constexpr Duration kHearing = 10s;    // until each rank has heard of a window
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

Duration MedianOf(std::vector<Duration>& values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

bool IsExplainedByWindow(std::string_view rule) {
  return std::ranges::find(kExplained, rule) != std::end(kExplained);
}

StepPulse PulseOf(std::span<const Step> steps) {
  StepPulse pulse;
  if (steps.empty()) return pulse;
  std::vector<Duration> walls, differences;
  for (const Step& step : steps) walls.push_back(step.wall);
  pulse.count = steps.size();
  pulse.newest = steps.back().number;
  pulse.newest_end = steps.back().start + steps.back().wall;
  pulse.median = MedianOf(walls);
  for (const Step& step : steps) {
    differences.push_back(std::max(step.wall - pulse.median, pulse.median - step.wall));
  }
  const double median = ToSeconds(pulse.median);
  pulse.deviation = median > 0 ? ToSeconds(MedianOf(differences)) / median : 0;
  return pulse;
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
  const double ahead =
      ToSeconds(std::max(situation.now - situation.steps.newest_end, Duration(0)) + kHearing) /
      std::max(ToSeconds(situation.steps.median), 1e-6);
  return {.start_step = situation.steps.newest + 2 + std::llround(std::ceil(ahead)),
          .asked_by = by,
          .note = ""};
}

}  // namespace stepscope
