#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/model/step.h"
#include "server/store/postgres/database.h"

namespace stepscope {

inline constexpr std::int64_t kEarlyAfter = 20;  // steps that an early window waits for

// How steps went lately, of one rank.
struct StepPulse {
  std::int64_t newest = -1;  // its number
  Time newest_end{};
  std::size_t count = 0;  // steps that were looked at
  Duration median{};
  Duration quick{};      // a tenth of them was no longer
  double deviation = 0;  // median of the differences from the median, as a share of it
};
StepPulse PulseOf(std::span<const Step> steps);

// Reads the newest steps of the rank, of the last hour at most.
Result<StepPulse> ReadPulse(Connection& connection, std::int64_t job_id, int rank, Time now);

inline constexpr std::size_t kLeastKnown = 8;  // steps; the first ones of a job take long
// The number of the first step that begins late enough for each rank to hear of a window before it,
// if steps are no quicker than the quick ones were. Of fewer than kLeastKnown steps that is not
// known.
std::int64_t EarliestStep(const StepPulse& steps, Time now);

}  // namespace stepscope
