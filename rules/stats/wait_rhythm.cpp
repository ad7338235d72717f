#include "rules/stats/wait_rhythm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "rules/engine/packing.h"

namespace stepscope {
namespace {

constexpr std::uint64_t kLeastGaps = 5;
constexpr std::uint64_t kMostGaps = 256;  // older ones count half from then on
constexpr double kRegular = 0.8;          // part of the gaps that are alike
constexpr double kInBursts = 0.9;         // part of the waits that lie in the steps that wait

}  // namespace

void WaitRhythm::Add(double wait_s) {
  const bool waits = steps_ > 0 && wait_s > mean_s_;
  ++steps_;
  mean_s_ += (wait_s - mean_s_) / static_cast<double>(steps_);
  (waits ? burst_s_ : other_s_) += wait_s;
  ++since_;
  if (!waits) return;
  if (waited_) {
    ++gaps_[std::min<std::uint64_t>(since_, kLongest) - 1];
    ++counted_;
  }
  waited_ = true;
  since_ = 0;
  if (counted_ < kMostGaps) return;
  for (std::uint64_t& gap : gaps_) gap /= 2;
  counted_ = std::accumulate(gaps_.begin(), gaps_.end(), std::uint64_t{0});
  burst_s_ /= 2, other_s_ /= 2;
}

std::int64_t WaitRhythm::EverySteps() const {
  const auto most = std::ranges::max_element(gaps_);
  const std::int64_t every = most - gaps_.begin() + 1;
  const bool regular = static_cast<double>(*most) >= kRegular * static_cast<double>(counted_);
  const bool bursts = burst_s_ >= kInBursts * (burst_s_ + other_s_);
  const bool known = counted_ >= kLeastGaps && regular && bursts;
  return known && every > 1 && every < std::ssize(gaps_) ? every : 0;
}

std::string WaitRhythm::Save() const {
  std::vector<std::uint64_t> numbers = {steps_, since_, waited_ ? 1U : 0U};
  for (const double seconds : {mean_s_, burst_s_, other_s_}) {
    numbers.push_back(std::bit_cast<std::uint64_t>(seconds));
  }
  numbers.insert(numbers.end(), gaps_.begin(), gaps_.end());
  return PackNumbers(numbers);
}

Status WaitRhythm::Load(std::string_view packed) {
  constexpr std::size_t kNumbers = 6;
  const auto numbers = UnpackNumbers(packed, kNumbers + kLongest);
  if (!numbers.ok()) return numbers.error();
  if (numbers->size() != kNumbers + kLongest) return Invalid("state: a rhythm of waits is cut");
  const auto seconds = [&](std::size_t i) { return std::bit_cast<double>((*numbers)[i]); };
  const bool finite =
      std::isfinite(seconds(3)) && std::isfinite(seconds(4)) && std::isfinite(seconds(5));
  const bool fits = std::all_of(numbers->begin() + kNumbers, numbers->end(),
                                [](std::uint64_t gaps) { return gaps <= kMostGaps; });
  if (!finite || !fits) return Invalid("state: a rhythm of waits is out of range");
  steps_ = (*numbers)[0], since_ = (*numbers)[1], waited_ = (*numbers)[2] != 0;
  mean_s_ = seconds(3), burst_s_ = seconds(4), other_s_ = seconds(5);
  std::copy(numbers->begin() + kNumbers, numbers->end(), gaps_.begin());
  counted_ = std::accumulate(gaps_.begin(), gaps_.end(), std::uint64_t{0});
  return {};
}

}  // namespace stepscope
