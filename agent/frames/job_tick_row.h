#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "agent/collect/tick_row.h"

namespace stepscope {

// Whose control group the node's ticks have.
enum class TickCgroup { kOfAgent, kOfJob };

// The part of a node's ticks that belongs to one of its jobs: everything but other jobs' GPUs and
// an agent's own control group, in whose place the job's has columns of its own. Series are only
// ever added. For one thread.
class JobTickRow {
 public:
  JobTickRow() = default;
  explicit JobTickRow(TickCgroup cgroup) : cgroup_(cgroup) {}

  // Sets the job's GPUs.
  void SetGpus(const std::set<std::string>& devices) { gpus_ = {devices.begin(), devices.end()}; }

  // The job's part of a tick, valid until the next call; columns of the job's own may be added.
  TickRow& Of(const TickRow& node);

 private:
  bool IsOurs(const SeriesName& series) const;

  TickCgroup cgroup_ = TickCgroup::kOfAgent;
  std::set<std::string, std::less<>> gpus_;
  TickRow row_;
  std::vector<std::size_t> columns_;  // column of row_ for each of the node's; kNoColumn: left out
};

}  // namespace stepscope
