#include "agent/marks/shares.h"

#include <algorithm>

namespace stepscope {

void Shares::Add(std::uint32_t user, std::size_t amount) {
  const auto found = std::ranges::find(amounts_, user, &Amount::user);
  if (found == amounts_.end()) {
    amounts_.push_back({user, amount});
  } else {
    found->amount += amount;
  }
}

std::size_t Shares::all() const {
  std::size_t sum = 0;
  for (const Amount& each : amounts_) sum += each.amount;
  return sum;
}

std::size_t Shares::Of(std::uint32_t user) const {
  const auto found = std::ranges::find(amounts_, user, &Amount::user);
  return found == amounts_.end() ? 0 : found->amount;
}

std::size_t Shares::Most(std::uint32_t user) const {
  const std::size_t own = Of(own_user_);
  const std::size_t others = all() - own - (user == own_user_ ? 0 : Of(user));
  const std::size_t kept = user == own_user_ ? others : others + std::max(own, most_ / 8);
  const std::size_t left = most_ - std::min(most_, kept);
  return user == own_user_ ? left : (left + 1) / 2;
}

std::size_t Shares::Room(std::uint32_t user) const {
  return Most(user) - std::min(Most(user), Of(user));
}

}  // namespace stepscope
