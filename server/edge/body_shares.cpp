#include "server/edge/body_shares.h"

namespace stepscope {

bool BodyShares::Take(const std::string& whose, std::uint64_t bytes) {
  return taken_.Change([&](Taken& taken) {
    const auto known = taken.by_whom.find(whose);
    const std::uint64_t own = known == taken.by_whom.end() ? 0 : known->second;
    if (taken.all + bytes > most_) return false;
    const std::uint64_t left = most_ - (taken.all - own);
    if (!whose.empty() && own + bytes > left / 4 * 3) return false;
    taken.all += bytes;
    taken.by_whom[whose] += bytes;
    return true;
  });
}

void BodyShares::Return(const std::string& whose, std::uint64_t bytes) {
  taken_.Change([&](Taken& taken) {
    const auto known = taken.by_whom.find(whose);
    if (known == taken.by_whom.end()) return;
    taken.all -= bytes;
    known->second -= bytes;
    if (known->second == 0) taken.by_whom.erase(known);
  });
}

}  // namespace stepscope
