#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/time.h"
#include "rules/engine/state.h"
#include "rules/stats/statistics.h"

namespace stepscope {

// A stretch in which a node sent far more than usual.
struct Burst {
  Time from{}, to{};
  double bytes = 0;

  template <typename State>
  void Fields(State& state) {
    state("from", from);
    state("to", to);
    state("bytes", bytes);
  }
};

// The newest bursts of one node. A burst begins above four times the median rate of the last ten
// minutes, and above 1 MB/s, and ends after a quiet while. A stretch so long that it becomes the
// new usual rate is no burst.
class SendBursts {
 public:
  static constexpr std::size_t kMostBursts = 64;

  explicit SendBursts(Duration interval);

  void Add(Time at, double bytes_per_second);

  // The bursts that have at least a tenth of the bytes of the largest, oldest first.
  std::vector<Burst> Large() const;
  Duration watched() const { return first_ ? *last_ - *first_ : Duration::zero(); }
  Time last() const { return last_.value_or(Time{}); }
  bool TakeFresh() { return std::exchange(fresh_, false); }

  template <typename State>
  void Fields(State& state) {
    state("usual", usual_);
    state("first", first_);
    state("last", last_);
    state("fresh", fresh_);
    state("open", open_);
    state("burst", burst_);
    state("next", next_);
    state("bursts", bursts_, [] { return Burst(); });
  }

 private:
  void Close();

  Duration interval_;
  SlidingPercentiles usual_;  // bins of amounts
  std::optional<Time> first_, last_;
  bool fresh_ = false;  // samples came since TakeFresh
  bool open_ = false;
  Burst burst_;  // the open burst; `to` is its last sample above the bound
  std::int64_t next_ = 1;
  std::map<std::int64_t, Burst, std::less<>> bursts_;  // by number
};

}  // namespace stepscope
