#pragma once

#include "core/base/clock.h"

namespace stepscope {

// How much the wall clock of this node is ahead of its steady clock: the same for ever, until the
// wall clock is set, or the node sleeps, while which the steady clock stands still. For one thread.
class WallOffset {
 public:
  explicit WallOffset(const Clock& clock);

  // As of now. What moved by less than 10 ms did not move: the two clocks cannot be read at once.
  Duration Read();

 private:
  const Clock& clock_;
  Duration offset_{};
};

}  // namespace stepscope
