#pragma once

#include <cstdint>
#include <optional>

#include "rules/engine/rule.h"

namespace stepscope {

// A fold that has not fired yet is checked between two scans, at multiples of this since the job's
// first tick. A fold that would fire is scanned early; see Fold::ScanEarly.
inline constexpr Duration kCheckInterval = 5s;

// The next check of a fold that was scanned last at `at`; nothing when it would not be before
// `scan`, the fold's next scan.
std::optional<Time> NextCheck(const Fold& fold, Time origin, Time at, Time scan);

// Checks the fold, and scans it when it would fire and there are `fresh` ticks; afterwards none are
// fresh. Returns the next check, as NextCheck does.
std::optional<Time> CheckFold(Fold& fold, bool& fresh, Time origin, Time at, Time scan);

// The least number of further ticks, all of them bad, until `bad` of `judged` are more than
// `share`, 0 to 1. Nothing when that can never be.
std::optional<std::int64_t> TicksToExceed(double share, std::int64_t bad, std::int64_t judged);

// `at` plus so many ticks of a job, at most kMostTicks.
Time After(Time at, std::int64_t ticks, Duration interval);

}  // namespace stepscope
