#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "agent/collect/tick_row.h"

namespace stepscope {

// The part of a node's ticks that belongs to one of its jobs: everything but other jobs' GPUs and
// the agent's own control group; the job's control group has columns of its own. Series are only
// ever added. For one thread.
class JobTickRow {
 public:
  // Adds a GPU to the job's.
  void AddGpu(const std::string& device) { gpus_.insert(device); }

  // The job's part of a tick, valid until the next call; columns of the job's own may be added.
  TickRow& Of(const TickRow& node);

 private:
  bool IsOurs(const SeriesName& series) const;

  std::set<std::string, std::less<>> gpus_;
  TickRow row_;
  std::vector<std::size_t> columns_;  // column of row_ for each of the node's; kNoColumn: left out
};

}  // namespace stepscope
