#include "agent/marks/user_rate.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr std::size_t kMostUsers = 1'024;

}  // namespace

double UserRate::LeftOf(const Bucket& bucket, SteadyTime now) const {
  return std::min(burst_, bucket.left + ToSeconds(now - bucket.at) * per_second_);
}

bool UserRate::Take(std::uint32_t user, double amount, SteadyTime now) {
  if (buckets_.size() >= kMostUsers && !buckets_.contains(user)) {
    std::erase_if(buckets_, [&](const auto& each) { return LeftOf(each.second, now) >= burst_; });
    if (buckets_.size() >= kMostUsers) buckets_.clear();
  }
  Bucket& bucket = buckets_.try_emplace(user, Bucket{burst_, now}).first->second;
  bucket = {LeftOf(bucket, now), now};
  if (bucket.left < amount) return false;
  bucket.left -= amount;
  return true;
}

}  // namespace stepscope
