#pragma once

#include <algorithm>
#include <optional>

#include "core/base/time.h"

namespace stepscope {

// The judged time of a rule that judges at scans, and the part of it in which it fired. A scan
// counts by its length, from the first tick behind the scan before it: the last one of a job may be
// short. Where several devices are judged at a scan, each counts by itself.
class ScanTime {
 public:
  // Records a tick at `at`; between two scans ticks come in any order.
  void Saw(Time at) { from_ = std::min(from_.value_or(at), at); }
  void Begin(Time at) {
    length_s_ = std::max(1e-6, ToSeconds(at - from_.value_or(at)));
    from_.reset();
  }
  // Clear or Trigger is called once for each device that is judged at the scan. `lost` is the part
  // of its time that is lost, 0 to 1.
  void Clear() { judged_s_ += length_s_; }
  void Trigger(double lost) {
    judged_s_ += length_s_;
    fired_s_ += length_s_;
    lost_s_ += lost * length_s_;
  }

  // Parts of the judged time, 0 to 1; 0 when nothing was judged.
  double Share() const { return judged_s_ > 0 ? fired_s_ / judged_s_ : 0; }
  double Lost() const { return judged_s_ > 0 ? lost_s_ / judged_s_ : 0; }

  template <typename State>
  void Fields(State& state) {
    state("from", from_);
    state("judged_s", judged_s_);
    state("fired_s", fired_s_);
    state("lost_s", lost_s_);
  }

 private:
  std::optional<Time> from_;  // first tick since the last scan
  double length_s_ = 0;       // length of the scan
  double judged_s_ = 0, fired_s_ = 0, lost_s_ = 0;
};

}  // namespace stepscope
