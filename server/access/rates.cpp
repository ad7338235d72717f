#include "server/access/rates.h"

#include <algorithm>
#include <chrono>

namespace stepscope {

double RateLimits::LeftOf(const Bucket& bucket, SteadyTime now) const {
  const double seconds = ToSeconds(now - bucket.at);
  return std::min(rate_.burst, bucket.left + std::max(seconds, 0.0) * rate_.per_second);
}

Duration RateLimits::Take(std::string_view key, double amount, SteadyTime now) {
  return buckets_.Change([&](Buckets& buckets) {
    auto found = buckets.find(key);
    if (found == buckets.end()) {
      MakeRoom(buckets, now);
      found = buckets.emplace(std::string(key), Bucket{rate_.burst, now}).first;
    }
    Bucket& bucket = found->second;
    bucket = {LeftOf(bucket, now), now};
    if (bucket.left < amount) {
      const double seconds = (amount - bucket.left) / rate_.per_second;
      return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
    }
    bucket.left -= amount;
    return Duration::zero();
  });
}

void RateLimits::MakeRoom(Buckets& buckets, SteadyTime now) const {
  if (buckets.size() < kMostKeys) return;
  std::erase_if(buckets,
                [&](const auto& entry) { return LeftOf(entry.second, now) >= rate_.burst; });
  if (buckets.size() >= kMostKeys) buckets.clear();
}

std::size_t RateLimits::size() const {
  return buckets_.Read([](const Buckets& buckets) { return buckets.size(); });
}

}  // namespace stepscope
