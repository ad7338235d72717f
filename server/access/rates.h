#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "core/base/guarded.h"
#include "core/base/time.h"

namespace stepscope {

// How much each key may do in a second, with a burst: a bucket that fills by itself. Remembers a
// bounded number of keys; when there are more, those whose bucket is full are forgotten, and if
// that is not enough, all. Safe from any thread, never waits.
class RateLimits {
 public:
  static constexpr std::size_t kMostKeys = 20'000;

  struct Rate {
    double per_second = 1;
    double burst = 1;  // nothing larger can be taken at once
  };
  explicit RateLimits(Rate rate) : rate_(rate) {}

  // Takes so much from the bucket. Zero, or how long to wait until there is enough; then nothing
  // was taken.
  Duration Take(std::string_view key, double amount, SteadyTime now);

  std::size_t size() const;

 private:
  struct Bucket {
    double left = 0;
    SteadyTime at{};
  };
  using Buckets = std::map<std::string, Bucket, std::less<>>;
  double LeftOf(const Bucket& bucket, SteadyTime now) const;
  void MakeRoom(Buckets& buckets, SteadyTime now) const;

  const Rate rate_;
  Guarded<Buckets> buckets_;
};

}  // namespace stepscope
