#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "rules/engine/state.h"
#include "rules/stats/statistics.h"

namespace stepscope {

// Unusual activity of a node's host in a stretch of the last minutes: whether it computed, wrote to
// a disk or file server, or sent to the network more than usual.
class HostActivity {
 public:
  enum Sign : unsigned { kSeen = 1, kCpu = 2, kWrite = 4, kSend = 8 };
  static std::span<const std::string_view> Metrics();

  explicit HostActivity(Duration interval);

  void Observe(const TickView& ticks);
  // The signs in the samples of the stretch; 0 when there are no samples (any more). `cores` is the
  // number of cores of the node.
  unsigned SignsOf(Time from, Time to, int cores) const;
  // The samples of a stretch that ends at `to` come no later than this.
  Time Until(Time to) const { return to + slot_; }

  template <typename State>
  void Fields(State& state) {
    state("slots", slots_);
    for (std::size_t i = 0; i < kSigns; ++i) state("usual_" + std::to_string(i), usual_[i]);
  }

 private:
  static constexpr std::size_t kSigns = 3;
  static constexpr std::size_t kMostSlots = 600;

  struct Slot {
    std::array<std::uint64_t, kSigns> sums{}, counts{};  // sums of values, in whole units
  };
  // The newest samples, by time.
  struct Slots {
    std::map<std::int64_t, Slot> by_index;

    std::string Save() const;
    Status Load(std::string_view packed);
  };
  void Add(std::size_t sign, Time at, double value);
  bool StandsOut(std::size_t sign, double mean, int cores) const;

  Duration slot_;
  Slots slots_;
  std::array<SlidingPercentiles, kSigns> usual_;
};

// Signs in words: "disk writes and network sends"; "" for none.
std::string SignsText(unsigned signs);

}  // namespace stepscope
