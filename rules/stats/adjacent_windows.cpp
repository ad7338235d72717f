#include "rules/stats/adjacent_windows.h"

#include <algorithm>

#include "rules/engine/packing.h"

namespace stepscope {

AdjacentWindows::AdjacentWindows(std::size_t window)
    : window_(std::clamp<std::size_t>(window, 1, kMostSamples)) {}

void AdjacentWindows::Add(std::uint32_t bin) {
  if (full()) {
    const std::uint16_t middle = ring_[(next_ + window_) % ring_.size()];
    before_ += middle - std::uint64_t{ring_[next_]};
    now_ += bin - std::uint64_t{middle};
    ring_[next_] = static_cast<std::uint16_t>(bin);
    next_ = next_ + 1 == ring_.size() ? 0 : next_ + 1;
    return;
  }
  (ring_.size() < window_ ? before_ : now_) += bin;
  ring_.push_back(static_cast<std::uint16_t>(bin));
}

// Saves the bins oldest first.
std::string AdjacentWindows::Save() const {
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < ring_.size(); ++i) {
    numbers.push_back(ring_[(next_ + i) % ring_.size()]);
  }
  return PackNumbers(numbers);
}

Status AdjacentWindows::Load(std::string_view packed) {
  const auto numbers = UnpackNumbers(packed, 2 * window_);
  if (!numbers.ok()) return numbers.error();
  *this = AdjacentWindows(window_);
  for (const std::uint64_t bin : *numbers) {
    if (bin >= kPercentBins) return Invalid("state: a percentage is above 100 %");
    Add(static_cast<std::uint32_t>(bin));
  }
  return {};
}

}  // namespace stepscope
