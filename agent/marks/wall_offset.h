#pragma once

#include "core/base/clock.h"

namespace stepscope {

// How much the wall clock of this node is ahead of its steady clock: constant, until the wall clock
// is set, or the node sleeps, during which the steady clock stops. For one thread.
class WallOffset {
 public:
  explicit WallOffset(const Clock& clock);

  // The present offset. A change of less than 10 ms is ignored: the two clocks cannot be read at
  // once.
  Duration Read();

 private:
  const Clock& clock_;
  Duration offset_{};
};

}  // namespace stepscope
