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

// The stalls of one rank: slow steps, those in a row as one, and the rhythms that they have.
class RankStalls {
 public:
  struct Limits {
    double factor = 1.5;  // times the usual step: a slow one
    std::int64_t min_repeats = 5;
  };
  static constexpr std::size_t kUsual = 256;  // steps whose median is the usual step

  explicit RankStalls(std::string node = "") : node_(std::move(node)) {}

  // The rhythm of which the step completed a beat, or null.
  const Rhythm* Add(const Step& step, const Limits& limits);
  // All samples before `at` were shown to the node.
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
  std::int64_t position_ = 0, number_ = 0;  // of the newest step: among all, and its own
  SlidingPercentiles lengths_{kUsual};      // bins of amounts
  StepSums all_, usual_;                    // usual: those that are not slow
  StepSums open_;                           // slow ones that no other has followed yet
  std::int64_t open_at_ = 0;                // position of the first of these
  Time open_from_{}, open_to_{};
  Rhythms rhythms_;
  // Stalls whose samples are still to come; by position.
  std::map<std::int64_t, Pending, std::less<>> pending_;
};

}  // namespace stepscope
