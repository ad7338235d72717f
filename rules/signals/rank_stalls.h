#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "rules/engine/state.h"
#include "rules/signals/host_activity.h"
#include "rules/signals/rhythm.h"
#include "rules/signals/step_sums.h"
#include "rules/stats/statistics.h"

namespace stepscope {

// The stalls of one rank (slow steps in a row are one stall), and the rhythms of the stalls.
class RankStalls {
 public:
  struct Limits {
    double factor = 1.5;  // a step is slow when it takes this many times the usual step
    std::int64_t min_repeats = 5;
  };
  static constexpr std::size_t kUsual = 256;  // steps whose median is the usual step

  explicit RankStalls(std::string node = "") : node_(std::move(node)) {}

  // The rhythm of which the step completed a beat, or null.
  const Rhythm* Add(const Step& step, const Limits& limits);
  // The node has observed all samples before `at`.
  void Scan(Time at, const HostActivity& node, int cores);

  const std::string& node() const { return node_; }
  std::int64_t steps() const { return all_.steps(); }
  Duration wall() const { return all_.wall(); }
  std::int64_t position() const { return position_; }
  Duration Usual() const { return Duration(static_cast<std::int64_t>(UsualNs())); }
  const Rhythms& rhythms() const { return rhythms_; }

  template <typename State>
  void Fields(State& state) {
    state("node", node_);
    state("position", position_);
    state("number", number_);
    state("lengths", lengths_);
    state("all", all_);
    state("usual", usual_);
    state("open", open_);
    state("open_at", open_at_);
    state("open_from", open_from_);
    state("open_to", open_to_);
    state("rhythms", rhythms_);
    state("pending", pending_, [] { return Pending(); });
  }

 private:
  struct Pending {
    Time from{}, to{}, closed{};

    template <typename State>
    void Fields(State& state) {
      state("from", from);
      state("to", to);
      state("closed", closed);
    }
  };
  double UsualNs() const { return BinAmount(lengths_.Bin(0.5)); }
  void Advance(std::int64_t number);
  SlowRun TakeOpen();

  std::string node_;
  std::int64_t position_ = 0,
               number_ = 0;  // the newest step's position among all steps, and its own number
  SlidingPercentiles lengths_{kUsual};  // bins of amounts
  StepSums all_, usual_;                // usual: sums of the steps that are not slow
  StepSums open_;                       // slow steps that no usual step has followed yet
  std::int64_t open_at_ = 0;            // position of the first of the open steps
  Time open_from_{}, open_to_{};
  Rhythms rhythms_;
  // Stalls whose samples have not been seen yet; by position.
  std::map<std::int64_t, Pending, std::less<>> pending_;
};

}  // namespace stepscope
