#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// How the waits of a rank are spread over its steps: a loader with workers lets a training wait for
// every n-th batch only, once for each round of its workers. A step waits when its wait is longer
// than the mean of all before it. Seconds are only compared, never summed up over a job's length.
class WaitRhythm {
 public:
  void Add(double wait_s);

  // The n of "each n-th step waits"; 0 when the waits have no such rhythm, or are in most steps.
  std::int64_t EverySteps() const;

  std::string Save() const;
  Status Load(std::string_view packed);

 private:
  static constexpr std::size_t kLongest = 64;  // steps between two waits

  double mean_s_ = 0;
  std::uint64_t steps_ = 0, since_ = 0;  // steps; steps since the newest that waited
  bool waited_ = false;                  // any step did
  // The number of the newest gaps by their length, from 1 on; a longer one counts as the last.
  std::vector<std::uint64_t> gaps_ = std::vector<std::uint64_t>(kLongest);
  std::uint64_t counted_ = 0;
  double burst_s_ = 0, other_s_ = 0;  // waits of the steps that waited, and of all others
};

}  // namespace stepscope
