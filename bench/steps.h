#pragma once

#include <cstdint>
#include <random>

#include "core/model/table.h"

namespace stepscope {

// The steps of one rank of a training: of about the same length, now and then with a longer wait
// for data. They are independent of the samples and use no random numbers of theirs.
class SampledSteps {
 public:
  SampledSteps(std::int32_t rank, std::int64_t step_us, std::int64_t begin_us);

  const Schema& schema() const { return schema_; }
  Table Until(std::int64_t at_us);  // the steps that ended since the last call

 private:
  std::mt19937_64 random_;
  Schema schema_;
  std::int64_t step_us_, next_us_, number_ = 0;
};

}  // namespace stepscope
