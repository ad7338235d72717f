#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "rules/engine/rule.h"
#include "rules/stats/statistics.h"

namespace stepscope {

// The use of a GPU: samples by whole percent, 0 and 100 included.
class Workload {
 public:
  static constexpr std::size_t kBins = 101;

  void Add(std::uint32_t bin) {  // the bin is of 0.01 %
    const std::uint32_t percent = (bin + 50) / 100;
    ++counts_[percent];
    ++total_;
    sum_ += percent;
  }
  std::uint64_t total() const { return total_; }
  double Mean() const {
    return total_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(total_);
  }
  bool NeverWorked() const { return total_ > 0 && counts_[0] == total_; }

  // The area between the cumulative distributions / 100: 0 for equal use, 1 when one GPU is always
  // at 0 % and the other always at 100 %. Both must have samples.
  double DistanceTo(const Workload& other) const;

  std::string Save() const;
  Status Load(std::string_view packed);

 private:
  std::array<std::uint64_t, kBins> counts_{};
  std::uint64_t total_ = 0, sum_ = 0;
};

// Two GPUs, the less used one first.
struct GpuPair {
  Subject less, more;
  double distance = 0;
};

// At most kMostCompared GPUs are compared with each other. When there are more, it is the half of
// them that is furthest from the median GPU (by mean), and the least and the most used of the
// others: when two GPUs are further apart than a threshold, one is further than half of it from the
// middle. So 512 GPUs cost what 64 do, and 512 distances.
inline constexpr std::size_t kMostCompared = 64;

// All pairs, those that are furthest apart first.
std::vector<GpuPair> PairsOf(std::vector<std::pair<Subject, const Workload*>> gpus);

}  // namespace stepscope
