#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/time.h"

namespace stepscope {

enum class Phase {
  kData,
  kTransfer,
  kForward,
  kLoss,
  kBackward,
  kCommunication,
  kOptimizer,
  kCallback,
  kCheckpoint,
  kOther,
};
inline constexpr std::size_t kPhaseCount = 10;

std::string_view ToText(Phase phase);
std::optional<Phase> ParsePhase(std::string_view text);

// One optimizer step of one rank. The phases need not add up to `wall`: time outside of every phase
// is in none.
struct Step {
  std::int64_t number = 0;
  Time start{};
  Duration wall{};
  std::array<Duration, kPhaseCount> phases{};

  Duration phase(Phase which) const { return phases[static_cast<std::size_t>(which)]; }
};

}  // namespace stepscope
