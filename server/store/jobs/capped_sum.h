#pragma once

#include <cstdint>

namespace stepscope {

// Adds amounts, which are not negative: a sum that is too large becomes INT64_MAX.
inline std::int64_t CappedSum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

}  // namespace stepscope
