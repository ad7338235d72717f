#pragma once

#include <cstddef>
#include <cstdint>

namespace stepscope {

// Bins of durations, each at most 1/128 of its durations wide, so that bins of blocks add up to
// bins of a job and a percentile is known within a fixed share of itself (Masson, Rim, Lee:
// DDSketch, VLDB 2019). DDSketch has powers of a base; these bins are equally wide between two
// powers of two, which needs no logarithm and holds 0 to 255 ns exactly.
inline constexpr std::uint32_t kDurationBins = 7'296;
// The largest distance of a bin's middle from a duration in it: 1/256, rounded up.
inline constexpr double kDurationErrorPercent = 0.4;

// A bin and the number of durations in it.
struct DurationBin {
  std::uint32_t bin = 0;
  std::int64_t count = 0;

  bool operator==(const DurationBin&) const = default;
};

// Negative durations count as zero.
std::uint32_t DurationBinOf(std::int64_t ns);

// The nanoseconds [begin, begin + width) of a bin.
double DurationBinBegin(std::uint32_t bin);
double DurationBinWidth(std::uint32_t bin);

}  // namespace stepscope
