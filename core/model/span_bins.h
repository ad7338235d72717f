#pragma once

#include <cstdint>

namespace stepscope {

// Durations in bins of about the same relative width, four between two powers of two, from 1 us to
// 73 min; the first and the last have all that is shorter or longer. They never change: what was
// counted by one version adds up with what another counts.
inline constexpr int kSpanBins = 130;

// Below zero counts as zero.
int SpanBinOf(std::int64_t ns);

// The least that is in a bin; of kSpanBins INT64_MAX.
std::int64_t SpanBinBegin(int bin);

}  // namespace stepscope
