#include "rules/engine/next_check.h"

#include <algorithm>
#include <cmath>

namespace stepscope {
namespace {

constexpr std::int64_t kMostTicks = 10'000'000;  // a fold that lacks more is not asked before

// The first multiple of the interval that is not before `wanted` and is after `at`.
std::optional<Time> OnTheGrid(Time wanted, Time origin, Time at, Time scan) {
  if (wanted >= scan) return std::nullopt;
  const Time next = std::max(wanted, at + 1us);
  const auto checks = (next - origin + kCheckInterval - 1ns) / kCheckInterval;
  const Time check = origin + checks * kCheckInterval;
  return check < scan ? std::optional(check) : std::nullopt;
}

}  // namespace

std::optional<Time> NextCheck(const Fold& fold, Time origin, Time at, Time scan) {
  return OnTheGrid(fold.NextCheck(at), origin, at, scan);
}

std::optional<Time> CheckFold(Fold& fold, bool& fresh, Time origin, Time at, Time scan) {
  const Time wanted = fold.NextCheck(at);
  if (wanted > at || !fresh) return OnTheGrid(wanted, origin, at, scan);
  fold.ScanEarly(at);
  fresh = false;
  return NextCheck(fold, origin, at, scan);
}

std::optional<std::int64_t> TicksToExceed(double share, std::int64_t bad, std::int64_t judged) {
  const double lacking = share * static_cast<double>(judged) - static_cast<double>(bad);
  if (lacking < 0) return 0;
  if (share >= 1) return std::nullopt;
  const double ticks = std::floor(lacking / (1 - share)) + 1;
  return static_cast<std::int64_t>(std::min(ticks, static_cast<double>(kMostTicks)));
}

Time After(Time at, std::int64_t ticks, Duration interval) {
  return at + std::max(interval, Duration(1us)) * std::clamp<std::int64_t>(ticks, 0, kMostTicks);
}

}  // namespace stepscope
