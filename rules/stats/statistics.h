#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/model/table.h"

namespace stepscope {

// Percentages are kept in bins of 0.01 %, both ends included.
inline constexpr std::size_t kPercentBins = 10'001;

// The bin of a percentage; below 0 counts as 0 and above 100 as 100.
std::uint32_t PercentBin(double percent);
inline std::uint32_t PercentBin(const Column& column, std::size_t row) {
  if (column.scale != 2) return PercentBin(column.At(row));
  constexpr std::int64_t kMost = kPercentBins - 1;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(column.values[row], 0, kMost));
}
inline double BinPercent(std::uint32_t bin) {
  return bin / 100.0;
}

// Dense: all bins have memory. Sparse: bins get memory once their block has a value, since most
// values lie close together and a rule has many histograms; adding a value then takes a fifth
// longer.
enum class Bins { kDense, kSparse };

// Counts by bin, and by block of bins, so that a percentile costs a walk over the blocks and one
// over the bins of a block: some 200 additions wherever the values moved to, and adding a value
// costs two. Percentiles are by nearest rank: a value that occurred. `Count` bounds how many values
// there may be in a block.
template <typename Count, Bins kBins>
class RankedBins {
 public:
  explicit RankedBins(std::size_t bins)
      : bins_(bins),
        sums_((bins >> kBlockBits) + 1),
        places_(kBins == Bins::kDense ? 0 : sums_.size(), kNowhere),
        counts_(kBins == Bins::kDense ? sums_.size() << kBlockBits : 0) {}

  void Add(std::uint32_t bin) {
    ++CountOf(bin);
    ++sums_[bin >> kBlockBits];
    ++total_;
  }
  void Add(const RankedBins& other);  // must have as many bins
  void Remove(std::uint32_t bin) {    // must have been added before
    --CountOf(bin);
    --sums_[bin >> kBlockBits];
    --total_;
  }

  std::uint64_t total() const { return total_; }
  // The bin at the percentile, 0 to 1; 0 when there is nothing.
  std::uint32_t Percentile(double share) const;
  // An upper bound for the number of values below the bin: it counts the whole block, which is
  // quick.
  std::uint64_t BelowAtMost(std::uint32_t bin) const;

  std::string Save() const;
  Status Load(std::string_view packed);

 private:
  static constexpr int kBlockBits = 7;
  static constexpr std::uint32_t kInBlock = (1u << kBlockBits) - 1, kNowhere = UINT32_MAX;
  Count& CountOf(std::uint32_t bin) {
    if constexpr (kBins == Bins::kDense) return counts_[bin];
    std::uint32_t& place = places_[bin >> kBlockBits];
    if (place == kNowhere) place = NewPlace();
    return counts_[place + (bin & kInBlock)];
  }
  const Count* CountsOf(std::size_t block) const {  // the block must have a value
    return &counts_[kBins == Bins::kDense ? block << kBlockBits : places_[block]];
  }
  std::uint32_t NewPlace();
  void AddMany(std::uint32_t bin, Count count);
  template <typename Take>
  void ForEach(Take&& take) const;  // take(bin, count) for the bins in use, from the lowest on

  std::size_t bins_;
  std::vector<Count> sums_;  // sum of the bins of each block
  std::vector<std::uint32_t>
      places_;  // index of a block's first bin in the counts; only when sparse
  std::vector<Count> counts_;
  std::uint64_t total_ = 0;
};

using WindowBins = RankedBins<std::uint16_t, Bins::kDense>;
using TotalBins = RankedBins<std::uint64_t, Bins::kSparse>;
extern template class RankedBins<std::uint16_t, Bins::kDense>;
extern template class RankedBins<std::uint64_t, Bins::kSparse>;

// Percentiles over the last `window` percentages; adding one costs the same for every window.
class SlidingPercentiles {
 public:
  static constexpr std::size_t kMostSamples = 65'000;  // so that a count can hold them all

  explicit SlidingPercentiles(std::size_t window);

  // Inlined always: it runs for each sample, and a call costs a rule up to a sixth of its speed.
  [[gnu::always_inline]] void Add(std::uint32_t bin) {
    if (full()) bins_.Remove(ring_[next_]);
    if (ring_.size() <= next_) ring_.resize(next_ + 1);
    ring_[next_] = static_cast<std::uint16_t>(bin);
    bins_.Add(bin);
    next_ = next_ + 1 == window_ ? 0 : next_ + 1;
  }
  void Clear();

  bool full() const { return bins_.total() == window_; }
  std::size_t size() const { return static_cast<std::size_t>(bins_.total()); }
  double Percentile(double share) const { return BinPercent(bins_.Percentile(share)); }
  std::uint32_t Bin(double share) const { return bins_.Percentile(share); }
  // Walks over the window, for Add, which runs for each sample, keeps no sum. 0 when the window is
  // empty.
  double Mean() const;
  // The least number of further values, all below `percent`, until the window is full and its
  // percentile is below `percent`.
  std::size_t LackingBelow(double share, double percent) const;

  std::string Save() const;
  Status Load(std::string_view packed);

 private:
  std::size_t window_;
  WindowBins bins_{kPercentBins};
  std::vector<std::uint16_t> ring_;  // grows to `window_` and no further
  std::size_t next_ = 0;
};

// Bins for amounts without an upper limit, such as bytes a second: each is 2.2 % wider than the bin
// before.
inline constexpr std::size_t kAmountBins = 2'050;
std::uint32_t AmountBin(double amount);
double BinAmount(std::uint32_t bin);  // the middle of the bin

}  // namespace stepscope
