#include "core/model/step.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr std::array<std::string_view, kPhaseCount> kPhases = {
    "data",          "transfer",  "forward",  "loss",       "backward",
    "communication", "optimizer", "callback", "checkpoint", "other"};

}  // namespace

std::string_view ToText(Phase phase) {
  return kPhases[static_cast<std::size_t>(phase)];
}

std::optional<Phase> ParsePhase(std::string_view text) {
  const auto found = std::ranges::find(kPhases, text);
  if (found == kPhases.end()) return std::nullopt;
  return static_cast<Phase>(found - kPhases.begin());
}

}  // namespace stepscope
