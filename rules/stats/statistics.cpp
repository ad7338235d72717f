#include "rules/stats/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/text.h"
#include "rules/engine/packing.h"

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

template <typename Count, Bins kBins>
std::uint32_t RankedBins<Count, kBins>::NewPlace() {
  const std::size_t place = counts_.size();
  counts_.resize(place + kInBlock + 1);
  return static_cast<std::uint32_t>(place);
}

template <typename Count, Bins kBins>
void RankedBins<Count, kBins>::AddMany(std::uint32_t bin, Count count) {
  Count &of_bin = CountOf(bin), &of_block = sums_[bin >> kBlockBits];
  of_bin = static_cast<Count>(of_bin + count);
  of_block = static_cast<Count>(of_block + count);
  total_ += count;
}

template <typename Count, Bins kBins>
template <typename Take>
void RankedBins<Count, kBins>::ForEach(Take&& take) const {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (sums_[i] == 0) continue;
    for (std::size_t in_block = 0; in_block <= kInBlock; ++in_block) {
      const Count count = CountsOf(i)[in_block];
      if (count > 0) take(static_cast<std::uint32_t>((i << kBlockBits) + in_block), count);
    }
  }
}

template <typename Count, Bins kBins>
void RankedBins<Count, kBins>::Add(const RankedBins& other) {
  other.ForEach([this](std::uint32_t bin, Count count) { AddMany(bin, count); });
}

template <typename Count, Bins kBins>
std::uint32_t RankedBins<Count, kBins>::Percentile(double share) const {
  if (total_ == 0) return 0;
  const double rank = std::ceil(share * static_cast<double>(total_));
  // How many values rank before the percentile.
  std::uint64_t before = std::min(rank < 1 ? 0 : static_cast<std::uint64_t>(rank) - 1, total_ - 1);
  std::size_t block = 0;
  for (; sums_[block] <= before; ++block) before -= sums_[block];
  const Count* counts = CountsOf(block);
  std::size_t bin = 0;
  for (; counts[bin] <= before; ++bin) before -= counts[bin];
  return static_cast<std::uint32_t>((block << kBlockBits) + bin);
}

template <typename Count, Bins kBins>
std::uint64_t RankedBins<Count, kBins>::BelowAtMost(std::uint32_t bin) const {
  const std::size_t blocks = std::min<std::size_t>((bin >> kBlockBits) + 1, sums_.size());
  return std::accumulate(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(blocks),
                         std::uint64_t{0});
}

// Saves only the bins in use: each as its distance from the bin before, and its count.
template <typename Count, Bins kBins>
std::string RankedBins<Count, kBins>::Save() const {
  std::vector<std::uint64_t> numbers;
  std::uint32_t from = 0;
  ForEach([&](std::uint32_t bin, Count count) {
    numbers.push_back(bin - from);
    numbers.push_back(count);
    from = bin;
  });
  return PackNumbers(numbers);
}

template <typename Count, Bins kBins>
Status RankedBins<Count, kBins>::Load(std::string_view packed) {
  const auto numbers = UnpackNumbers(packed, 2 * bins_);
  if (!numbers.ok()) return numbers.error();
  *this = RankedBins(bins_);
  std::uint64_t bin = 0;
  for (std::size_t i = 0; i + 1 < numbers->size(); i += 2) {
    const std::uint64_t gap = (*numbers)[i], count = (*numbers)[i + 1];
    const std::uint64_t room = std::numeric_limits<Count>::max() - total_;
    if ((i > 0 && gap == 0) || gap >= bins_ - bin || count > room) {
      return Invalid("state: a histogram is out of its range");
    }
    bin += gap;
    AddMany(static_cast<std::uint32_t>(bin), static_cast<Count>(count));
  }
  return {};
}

template class RankedBins<std::uint16_t, Bins::kDense>;
template class RankedBins<std::uint64_t, Bins::kSparse>;

SlidingPercentiles::SlidingPercentiles(std::size_t window)
    : window_(std::clamp<std::size_t>(window, 1, kMostSamples)) {}

double SlidingPercentiles::Mean() const {
  if (size() == 0) return 0;
  static_assert(kMostSamples * kPercentBins < UINT32_MAX);
  const auto sum = std::accumulate(ring_.begin(), ring_.end(), std::uint32_t{0});
  return static_cast<double>(sum) / static_cast<double>(size()) / 100;
}

void SlidingPercentiles::Clear() {
  bins_ = WindowBins(kPercentBins);
  ring_.clear();
  next_ = 0;
}

std::size_t SlidingPercentiles::LackingBelow(double share, double percent) const {
  const auto bin = static_cast<std::uint32_t>(std::ceil(std::clamp(percent, 0.0, 100.0) * 100));
  const auto rank = std::max(std::ceil(share * static_cast<double>(window_)), 1.0);
  const auto wanted = static_cast<std::size_t>(rank), below = std::size_t(bins_.BelowAtMost(bin));
  return std::max(wanted - std::min(wanted, below), window_ - size());
}

// Saves the samples oldest first, in two bytes each: varints of values up to 10,000.
std::string SlidingPercentiles::Save() const {
  std::vector<std::uint64_t> numbers;
  const std::size_t oldest = full() ? next_ : 0;
  for (std::size_t i = 0; i < size(); ++i) numbers.push_back(ring_[(oldest + i) % window_]);
  return PackNumbers(numbers);
}

Status SlidingPercentiles::Load(std::string_view packed) {
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
