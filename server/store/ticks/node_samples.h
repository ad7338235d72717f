#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/store/ticks/ticks.h"

namespace stepscope {

// The samples of a series in a range, without instants at which it has none.
struct SampleSeries {
  std::string metric, device;
  std::uint8_t scale = 0;
  std::vector<std::int64_t> at_us, values;
};

// The samples that a request may still read; shared by the nodes of a job.
struct ReadBudget {
  std::size_t series = 2'000, samples = 4'000'000;
};

// The series of a node, sorted. Invalid when they are more than the budget allows; it says what to
// do.
Result<std::vector<SampleSeries>> ReadSamples(Connection& connection, TickQuery query,
                                              ReadBudget& budget);

}  // namespace stepscope
