#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/guarded.h"
#include "core/base/time.h"

namespace stepscope {

// Counts bad tokens by address: whoever shows ten of them within a minute waits until that minute
// is over. Remembers a bounded number of addresses; when there are more, those whose minute ends
// first are forgotten. Safe from any thread, never waits.
class BadTokens {
 public:
  static constexpr int kMost = 10;
  static constexpr Duration kWithin = 60s;
  static constexpr std::size_t kMostAddresses = 10'000;

  // The time that the address has to wait; zero when it may try.
  Duration Wait(std::string_view peer, SteadyTime now) const;

  void Count(std::string_view peer, SteadyTime now);

  std::size_t size() const;

 private:
  struct Window {
    int count = 0;
    SteadyTime until{};
  };
  using Windows = std::map<std::string, Window, std::less<>>;
  static void MakeRoom(Windows& windows, SteadyTime now);

  Guarded<Windows> windows_;
};

}  // namespace stepscope
