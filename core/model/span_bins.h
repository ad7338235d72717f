#pragma once

#include <cstdint>

namespace stepscope {

// Bins for durations, all of about the same relative width: four between two powers of two, from 1
// us to 73 min; the first and the last hold all that is shorter or longer. The bins never change,
// so that counts of different versions add up.
inline constexpr int kSpanBins = 130;

// The bin of a duration; a negative one counts as zero.
int SpanBinOf(std::int64_t ns);

// The least duration in a bin; INT64_MAX for kSpanBins.
std::int64_t SpanBinBegin(int bin);

}  // namespace stepscope
