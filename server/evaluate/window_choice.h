#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/step.h"
#include "server/store/jobs/window_costs.h"

namespace stepscope {

// Whether the service asks for a window of operators by itself, and of which steps: one early in
// the job, and one for each rule that fires and that a window explains. Pure: the caller reads and
// asks.

inline constexpr std::int64_t kAutomaticSteps = 4;
inline constexpr std::int64_t kEarlyAfter = 20;     // steps that an early window waits for
inline constexpr Duration kBetweenWindows = 10min;  // from one automatic window to the next
inline constexpr double kWindowBudget = 0.003;      // the share of the job's time that all may cost
inline constexpr Duration kFirstCost = 100ms,
                          kFirstCostOnGpu = 1s;  // a guess, before one was measured
inline constexpr std::string_view kEarly = "early";

// How steps went lately, of one rank.
struct StepPulse {
  std::int64_t newest = -1;  // its number
  Time newest_end{};
  std::size_t count = 0;  // steps that were looked at
  Duration median{};
  double deviation = 0;  // median of the differences from the median, as a share of it
};
StepPulse PulseOf(std::span<const Step> steps);

struct WindowSituation {
  Time now{}, began{};  // the job began
  StepPulse steps{};
  std::vector<WindowCost> windows{};  // see ListWindowCosts
  std::string unrecorded{};  // why the newest automatic window has no trace, when it is over
  std::vector<std::string> fired{};  // rules that fire now, by name
  std::string slowdown{};            // what a rank says of its steps since a window
  bool gpus = false;
};

struct WindowChoice {
  std::optional<std::int64_t> start_step{};  // none: no window is asked for
  std::string asked_by{};                    // kEarly, or a rule
  std::string note{};  // why none is asked for, where something stands against it
};
WindowChoice ChooseWindow(const WindowSituation& situation);

// Whether findings of the rule are explained by what operators and kernels did.
bool IsExplainedByWindow(std::string_view rule);

}  // namespace stepscope
