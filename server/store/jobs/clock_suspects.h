#pragma once

#include <cstdint>
#include <map>

#include "server/store/postgres/database.h"

namespace stepscope {

// What a node sends whose clock is further off than this is marked.
inline constexpr std::int64_t kSuspectOffsetUs = 60'000'000;
constexpr bool IsSuspectOffset(std::int64_t offset_us) {
  return offset_us > kSuspectOffsetUs || offset_us < -kSuspectOffsetUs;
}

// When it was marked first and last, by the service's clock, and how far the node's clock was off
// then. SeeNodes (server/store/frames/streams.h) writes it.
struct ClockSuspect {
  std::int64_t since_us = 0, until_us = 0, offset_us = 0;
};
// By the number of the node; of those whose clock was ever seen to be off.
Result<std::map<std::int64_t, ClockSuspect>> ListClockSuspects(Connection& connection,
                                                               std::int64_t job_id);

}  // namespace stepscope
