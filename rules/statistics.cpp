#include "rules/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/text.h"
#include "rules/packing.h"

namespace stepscope {
namespace {

constexpr double kAmountBinsPerDoubling = 32;

}  // namespace

std::uint32_t PercentBin(double percent) {
  if (!(percent > 0)) return 0;
  return static_cast<std::uint32_t>(std::lround(std::min(percent, 100.0) * 100));
}

std::uint32_t AmountBin(double amount) {
  if (!(amount >= 1)) return 0;
  const double bin = 1 + std::log2(amount) * kAmountBinsPerDoubling;
  return static_cast<std::uint32_t>(std::min(bin, static_cast<double>(kAmountBins - 1)));
}

double BinAmount(std::uint32_t bin) {
  return bin == 0 ? 0 : std::exp2((bin - 0.5) / kAmountBinsPerDoubling);
}

template <typename Count>
void RankedBins<Count>::Add(const RankedBins& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    counts_[i] = static_cast<Count>(counts_[i] + other.counts_[i]);
  }
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    blocks_[i] = static_cast<Count>(blocks_[i] + other.blocks_[i]);
  }
  total_ += other.total_;
}

template <typename Count>
std::uint32_t RankedBins<Count>::Percentile(double share) const {
  if (total_ == 0) return 0;
  const double rank = std::ceil(share * static_cast<double>(total_));
  // How many values stand before the one that is wanted.
  std::uint64_t before = std::min(rank < 1 ? 0 : static_cast<std::uint64_t>(rank) - 1, total_ - 1);
  std::size_t block = 0;
  for (; blocks_[block] <= before; ++block) before -= blocks_[block];
  std::size_t bin = block << kBlockBits;
  for (; counts_[bin] <= before; ++bin) before -= counts_[bin];
  return static_cast<std::uint32_t>(bin);
}

template <typename Count>
std::uint64_t RankedBins<Count>::BelowAtMost(std::uint32_t bin) const {
  const std::size_t blocks = std::min<std::size_t>((bin >> kBlockBits) + 1, blocks_.size());
  return std::accumulate(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(blocks),
                         std::uint64_t{0});
}

// Only the bins in use: how far from the one before, and how many.
template <typename Count>
std::string RankedBins<Count>::Save() const {
  std::vector<std::uint64_t> numbers;
  std::size_t from = 0;
  for (std::size_t bin = 0; bin < counts_.size(); ++bin) {
    if (counts_[bin] == 0) continue;
    numbers.push_back(bin - from);
    numbers.push_back(counts_[bin]);
    from = bin;
  }
  return PackNumbers(numbers);
}

template <typename Count>
Status RankedBins<Count>::Load(const Json& packed) {
  const auto numbers = UnpackNumbers(packed, 2 * counts_.size());
  if (!numbers.ok()) return numbers.error();
  *this = RankedBins(counts_.size());
  std::uint64_t bin = 0;
  for (std::size_t i = 0; i + 1 < numbers->size(); i += 2) {
    const std::uint64_t gap = (*numbers)[i], count = (*numbers)[i + 1];
    const std::uint64_t room = std::numeric_limits<Count>::max() - total_;
    if ((i > 0 && gap == 0) || gap >= counts_.size() - bin || count > room) {
      return Invalid("state: a histogram is out of its range");
    }
    bin += gap;
    counts_[bin] = static_cast<Count>(count);
    blocks_[bin >> kBlockBits] = static_cast<Count>(blocks_[bin >> kBlockBits] + count);
    total_ += count;
  }
  return {};
}

template class RankedBins<std::uint16_t>;
template class RankedBins<std::uint64_t>;

SlidingPercentiles::SlidingPercentiles(std::size_t window)
    : window_(std::clamp<std::size_t>(window, 1, kMostSamples)) {}

void SlidingPercentiles::Clear() {
  bins_ = RankedBins<std::uint16_t>(kPercentBins);
  ring_.clear();
  next_ = 0;
}

std::size_t SlidingPercentiles::LackingBelow(double share, double percent) const {
  const auto bin = static_cast<std::uint32_t>(std::ceil(std::clamp(percent, 0.0, 100.0) * 100));
  const auto rank = std::max(std::ceil(share * static_cast<double>(window_)), 1.0);
  const auto wanted = static_cast<std::size_t>(rank), below = std::size_t(bins_.BelowAtMost(bin));
  return std::max(wanted - std::min(wanted, below), window_ - size());
}

// Oldest first. Two bytes a sample: varints of values up to 10,000.
std::string SlidingPercentiles::Save() const {
  std::vector<std::uint64_t> numbers;
  const std::size_t oldest = full() ? next_ : 0;
  for (std::size_t i = 0; i < size(); ++i) numbers.push_back(ring_[(oldest + i) % window_]);
  return PackNumbers(numbers);
}

Status SlidingPercentiles::Load(const Json& packed) {
  const auto numbers = UnpackNumbers(packed, kMostSamples);
  if (!numbers.ok()) return numbers.error();
  Clear();
  for (const std::uint64_t bin : *numbers) {
    if (bin >= kPercentBins) return Invalid("state: a percentage is above 100 %");
    Add(static_cast<std::uint32_t>(bin));
  }
  return {};
}

}  // namespace stepscope
