#pragma once

#include <cstddef>

namespace stepscope {

// Bounds of what the agent takes in from all training processes together; each user has a share of
// most of them (Shares).
inline constexpr std::size_t kMostRanks = 1024;  // ranks of all jobs
inline constexpr std::size_t kMostRings = 1024;  // rings, each with a descriptor and a mapped page
// Memory of rings. It is the processes' own, but for holes that the agent fills.
inline constexpr std::size_t kMostRingBytes = std::size_t{96} << 20;
inline constexpr std::size_t kMostRingBytesOfUser = std::size_t{32} << 20;
// Marks that are read in a second; users have equal parts.
inline constexpr std::size_t kMarksASecond = 131'072;
// Steps that wait for a drain; users have equal parts, and so have the ranks of a user.
inline constexpr std::size_t kMostWaitingSteps = 16'384;
// Steps that wait for their times by the GPU's clock.
inline constexpr std::size_t kMostHeldSteps = 4096;
// Sums of annotations that wait for a drain.
inline constexpr std::size_t kMostSums = 8192;
// Bytes of names, facts and metrics, which stay as long as their process or rank is known.
inline constexpr std::size_t kMostBytes = std::size_t{2} << 20;

// Connections of a user: so many at once, and then a second; messages likewise; jobs that begin, of
// users other than the agent's own, at once and then within 24 hours.
inline constexpr double kConnectionsAtOnce = 2'048, kConnectionsASecond = 20;
inline constexpr double kMessagesInABurst = 200'000, kMessagesASecond = 1'000;
inline constexpr double kJobsInADay = 500;

}  // namespace stepscope
