#pragma once

#include <vector>

#include "server/store/frames/stored_frames.h"

namespace stepscope {

// The first frames of a list, and the schemas that they need.
struct ChosenFrames {
  std::size_t count = 0;
  Schemas schemas;
};

// Chooses the oldest frames of a node that one transaction compacts in bounded memory and time; at
// least one. Schemas are loaded as frames are considered, since each may have its own.
Result<ChosenFrames> ChooseNodeFrames(Connection& connection, std::int64_t job_id,
                                      const std::vector<FrameKey>& keys);

}  // namespace stepscope
