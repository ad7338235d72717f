#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "server/evaluate/step_pulse.h"
#include "server/store/jobs/window_costs.h"

namespace stepscope {

// Whether the service asks for a window of operators by itself, and of which steps: one early in
// the job, and one for each rule that fires and that a window explains. Pure: the caller reads and
// asks.

inline constexpr std::int64_t kAutomaticSteps = 4;
inline constexpr Duration kBetweenWindows = 10min;  // from one automatic window to the next
// While a window waits for its steps nobody else can ask for one, so one for a slow step that is
// further away is asked for later.
inline constexpr Duration kFurthest = 2min;
inline constexpr double kWindowBudget = 0.003;  // the share of the job's time that all may cost
inline constexpr Duration kFirstCost = 100ms,
                          kFirstCostOnGpu = 1s;  // a guess, before one was measured
inline constexpr std::string_view kEarly = "early";
inline constexpr std::string_view kPeriodicStall = "PeriodicStall";

// Slow steps that recur, as PeriodicStall found them.
struct StallRhythm {
  int rank = 0;
  std::int64_t every_steps = 0;  // from one to the next
  std::int64_t newest_us = 0;    // the newest one ended
  std::int64_t newest_step = 0;  // its number; the caller finds the step that ended then
};
// The costliest rhythm that goes on, in a verdict of PeriodicStall without its step; none where the
// verdict has none, or is not what the rule writes.
std::optional<StallRhythm> RhythmIn(const Json& verdict);

struct WindowSituation {
  Time now{}, began{};  // the job began
  StepPulse steps{};
  std::vector<WindowCost> windows{};  // see ListWindowCosts
  std::string unrecorded{};  // why the newest automatic window has no trace, when it is over
  std::vector<std::string> fired{};     // rules that fire now, by name
  std::optional<StallRhythm> stalls{};  // known where PeriodicStall fires
  std::string slowdown{};               // what a rank says of its steps since a window
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
