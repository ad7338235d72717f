#include "agent/marks/wall_offset.h"

#include <optional>

namespace stepscope {
namespace {

constexpr Duration kNoise = 10ms;
constexpr int kMostAttempts = 5;

// Nothing when this thread was interrupted between the two readings.
std::optional<Duration> Measure(const Clock& clock) {
  const SteadyTime before = clock.Steady();
  const Time wall = clock.Now();
  if (clock.Steady() - before > kNoise / 10) return std::nullopt;
  return wall.time_since_epoch() - before.time_since_epoch();
}

}  // namespace

WallOffset::WallOffset(const Clock& clock)
    : clock_(clock), offset_(clock.Now().time_since_epoch() - clock.Steady().time_since_epoch()) {
  std::optional<Duration> measured;
  for (int i = 0; i < kMostAttempts && !measured; ++i) measured = Measure(clock);
  if (measured) offset_ = *measured;
}

Duration WallOffset::Read() {
  const auto measured = Measure(clock_);
  const bool moved = measured && std::chrono::abs(*measured - offset_) >= kNoise;
  if (moved) offset_ = *measured;
  return offset_;
}

}  // namespace stepscope
