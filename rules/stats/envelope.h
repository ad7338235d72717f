#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"
#include "rules/engine/state.h"

namespace stepscope {

// The greatest and the least values of a percentage over stretches of a job, a minute each at
// first. When there are too many, each two are joined. Says whether a saw rises as a whole, which
// means over stretches would hide.
class Envelope {
 public:
  void Add(Time at, std::uint32_t bin);

  // The greatest and the least value of the first and of the last fifth of the newest stretches.
  struct Rise {
    double first_peak = 0, last_peak = 0, first_low = 0, last_low = 0;
    double per_hour = 0;  // slope of the peaks
    Duration length{};
    double before = 0;  // the greatest value before these stretches
  };
  // None unless both the peaks and the lows rise from each fifth to the next, by more than a part
  // of their distance: a saw whose teeth are as high as before does not.
  std::optional<Rise> Rises() const;

  // The newest value, in percent.
  double newest() const { return newest_ / 100.0; }

  template <typename State>
  void Fields(State& state) {
    state("from", from_);
    state("minutes", minutes_);
    state("newest", newest_);
    state("bins", bins_);
  }

 private:
  static constexpr std::size_t kMost = 96;

  // Greatest and least bin of each stretch in turn; the newest stretch is not complete. A stretch
  // without values has its greatest below its least.
  struct Bins {
    std::vector<std::uint32_t> of;

    std::string Save() const;
    Status Load(std::string_view packed);
  };
  std::size_t Complete() const { return bins_.of.empty() ? 0 : bins_.of.size() / 2 - 1; }
  std::uint32_t Most(std::size_t first, std::size_t end) const;
  std::uint32_t Least(std::size_t first, std::size_t end) const;
  void Halve();

  std::optional<Time> from_;
  std::int64_t minutes_ = 1;
  std::uint32_t newest_ = 0;
  Bins bins_;
};

}  // namespace stepscope
