#include "server/access/bad_tokens.h"

#include <algorithm>

#include "core/base/peer_address.h"

namespace stepscope {

Duration BadTokens::Wait(std::string_view peer, SteadyTime now) const {
  const std::string key = AddressKey(peer);
  return windows_.Read([&](const Windows& windows) {
    const auto found = windows.find(key);
    if (found == windows.end() || found->second.count < kMost) return Duration::zero();
    return std::max<Duration>(found->second.until - now, Duration::zero());
  });
}

void BadTokens::Count(std::string_view peer, SteadyTime now) {
  const std::string key = AddressKey(peer);
  windows_.Change([&](Windows& windows) {
    if (!windows.contains(key)) MakeRoom(windows, now);
    Window& window = windows[key];
    if (window.until <= now) window = {0, now + kWithin};
    ++window.count;
  });
}

void BadTokens::MakeRoom(Windows& windows, SteadyTime now) {
  if (windows.size() < kMostAddresses) return;
  std::erase_if(windows, [&](const auto& entry) { return entry.second.until <= now; });
  if (windows.size() < kMostAddresses) return;
  // Addresses of half a minute are dropped at once, so that a flood of addresses does not pay this
  // each time.
  std::erase_if(windows,
                [&](const auto& entry) { return entry.second.until <= now + kWithin / 2; });
  if (windows.size() >= kMostAddresses) windows.clear();
}

std::size_t BadTokens::size() const {
  return windows_.Read([](const Windows& windows) { return windows.size(); });
}

}  // namespace stepscope
