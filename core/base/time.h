#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

using Duration = std::chrono::nanoseconds;
// Wall time, for data and signatures. Never used to measure how long something took.
using Time = std::chrono::time_point<std::chrono::system_clock, Duration>;
// Monotonic time, for durations and deadlines.
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;

using namespace std::chrono_literals;

inline std::int64_t ToMicros(Time time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

inline Time FromMicros(std::int64_t micros) {
  return Time(std::chrono::microseconds(micros));
}

inline double ToSeconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// Such as 2026-11-20T20:13:34.123456Z.
std::string ToRfc3339(Time time);

// Accepts "Z" and numeric offsets, 0 to 9 fraction digits, years 1970 to 2200.
Result<Time> ParseRfc3339(std::string_view text);

// Parses "250ms", "0.5s", "2m" or "1h". A number without a unit is refused.
Result<Duration> ParseDuration(std::string_view text);

// The duration in the largest unit that keeps it exact: "500 ms", "2 s", "10 min".
std::string ToText(Duration duration);

}  // namespace stepscope
