#pragma once

#include <cstddef>
#include <cstdint>

namespace stepscope {

// Durations in bins that are at most 1/128 of what is in them wide, so that bins of blocks add up
// to those of a job and a percentile is known within a fixed share of itself (Masson, Rim, Lee:
// DDSketch, VLDB 2019). Theirs are powers of a base; ours are equal between two powers of two,
// which needs no logarithm and holds 0 to 255 ns exactly.
inline constexpr std::uint32_t kDurationBins = 7'296;
// How far the middle of a bin is from anything in it: 1/256, rounded up.
inline constexpr double kDurationErrorPercent = 0.4;

// How many durations lie in a bin.
struct DurationBin {
  std::uint32_t bin = 0;
  std::int64_t count = 0;

  bool operator==(const DurationBin&) const = default;
};

// Below zero counts as zero.
std::uint32_t DurationBinOf(std::int64_t ns);

// The whole nanoseconds [begin, begin + width) that are in a bin.
double DurationBinBegin(std::uint32_t bin);
double DurationBinWidth(std::uint32_t bin);

}  // namespace stepscope
