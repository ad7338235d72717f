#pragma once

#include <cstdint>

namespace stepscope {

// The clock error from which on a node's frames are marked.
inline constexpr std::int64_t kSuspectOffsetUs = 60'000'000;
constexpr bool IsSuspectOffset(std::int64_t offset_us) {
  return offset_us > kSuspectOffsetUs || offset_us < -kSuspectOffsetUs;
}

// The times of the first and the last mark, by the service's clock, and the error of the node's
// clock then. SeeNodes (server/store/frames/streams.h) writes it.
struct ClockSuspect {
  std::int64_t since_us = 0, until_us = 0, offset_us = 0;
};

}  // namespace stepscope
