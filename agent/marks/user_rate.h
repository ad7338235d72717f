#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "core/base/time.h"

namespace stepscope {

// How much of something each user may do: a bucket of `burst` that fills by itself. Remembers 1,024
// users; when there are more, those whose bucket is full are forgotten, or else all. Not for use by
// several threads at once.
class UserRate {
 public:
  UserRate(double burst, double per_second) : burst_(burst), per_second_(per_second) {}

  // Takes so much; false, and nothing is taken, where the user has not as much left.
  bool Take(std::uint32_t user, double amount, SteadyTime now);

 private:
  struct Bucket {
    double left = 0;
    SteadyTime at{};
  };
  double LeftOf(const Bucket& bucket, SteadyTime now) const;

  const double burst_, per_second_;
  std::map<std::uint32_t, Bucket> buckets_;
};

}  // namespace stepscope
