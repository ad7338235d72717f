#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "agent/collect/tick_row.h"

namespace stepscope {

// The part of a node's ticks that belongs to one of its jobs: everything but GPUs that are not the
// job's and the agent's own control group; that of the job is a column of its own. Series are only
// ever added. For one thread.
class JobTickRow {
 public:
  // From now on this GPU is the job's, too.
  void AddGpu(const std::string& device) { gpus_.insert(device); }

  // Valid until the next call; columns of the job's own may be added.
  TickRow& Of(const TickRow& node);

 private:
  bool IsOurs(const SeriesName& series) const;

  std::set<std::string, std::less<>> gpus_;
  TickRow row_;
  std::vector<std::size_t> columns_;  // of row_, for each column of the node; kNoColumn: left out
};

}  // namespace stepscope
