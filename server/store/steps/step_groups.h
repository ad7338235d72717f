#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/step.h"
#include "server/store/frames/stored_frames.h"

namespace stepscope {

// A block or frame of steps, as it is listed.
struct StepSource {
  int rank = 0;
  std::int64_t from_us = 0, to_us = 0, rows = 0;
  std::int64_t step_block_id = 0;   // 0 where it is a frame
  std::string_view summary;         // a block's; "" where it has none
  const FrameKey* frame = nullptr;  // null where it is a block
};

// Sources of a rank that overlap in time, while no other source does: so no step is in two groups.
struct StepGroup {
  std::int64_t from_us = 0, to_us = 0;
  std::int64_t rows_to_read = 0;
  std::string_view summary;  // where the group is one block that need not be read
  std::vector<StepSource> sources;
};

// Groups the sources of one rank, in the order of time. Summaries are used for a rank of more than
// `most_read` steps.
std::vector<StepGroup> GroupSources(std::vector<StepSource> sources, std::int64_t most_read);

// The steps of each group, sorted and each once; none for a group with a summary.
Result<std::vector<std::vector<Step>>> LoadGroups(Connection& connection, std::int64_t job_id,
                                                  std::span<const StepGroup> groups);

}  // namespace stepscope
