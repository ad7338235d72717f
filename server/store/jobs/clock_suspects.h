#pragma once

#include <cstdint>
#include <map>

#include "server/store/postgres/database.h"

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
// By the node's number; only nodes whose clock was ever seen to be off.
Result<std::map<std::int64_t, ClockSuspect>> ListClockSuspects(Connection& connection,
                                                               std::int64_t job_id);

}  // namespace stepscope
