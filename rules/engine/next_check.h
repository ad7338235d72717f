#pragma once

#include <cstdint>
#include <optional>

#include "rules/engine/rule.h"

namespace stepscope {

// Between two scans a fold that has not fired yet is looked at, at multiples of this since the
// job's first tick. One that would fire is scanned early; see Fold::ScanEarly.
inline constexpr Duration kCheckInterval = 5s;

// When the fold that was scanned last at `at` is looked at next; nothing when that is not before
// `scan`, its next scan.
std::optional<Time> NextCheck(const Fold& fold, Time origin, Time at, Time scan);

// Looks at the fold, and scans it when that would fire and there are ticks that are `fresh`: none
// are afterwards. Gives when to look next, as NextCheck.
std::optional<Time> CheckFold(Fold& fold, bool& fresh, Time origin, Time at, Time scan);

// How many more ticks it takes at least until `bad` of `judged` are more than `share`, 0 to 1: all
// of them would have to be bad. Nothing when that can never be.
std::optional<std::int64_t> TicksToExceed(double share, std::int64_t bad, std::int64_t judged);

// `at` and so many ticks of a job, as long as that can be said.
Time After(Time at, std::int64_t ticks, Duration interval);

}  // namespace stepscope
