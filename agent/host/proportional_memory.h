#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/guarded.h"
#include "core/base/time.h"
#include "core/base/worker.h"

namespace stepscope {

// The bytes behind "Pss:" of /proc/PID/smaps_rollup.
std::optional<std::uint64_t> ParseProportional(std::string_view text);

// Processes whose memory is summed up.
struct MemoryGroup {
  std::string device;
  std::vector<std::int64_t> pids;
  std::optional<double> bytes;  // when it was read
};

// Memory of groups of processes, what several share divided among them. The kernel walks all pages
// to tell, so it is read on a thread of its own, once a minute at most and so seldom that it stays
// below 0.05 % of a core. For one thread.
class ProportionalMemory {
 public:
  using Groups = std::vector<MemoryGroup>;

  explicit ProportionalMemory(std::string root) : root_(std::move(root)) {}

  // Whether it is time to ask again, and nothing is on its way.
  bool Due(SteadyTime now) const;

  // A group with a process that may not be looked into, or is so large that the walk could hold it
  // up, has no figure.
  void Ask(const Groups& groups, SteadyTime now);

  // The groups that were asked for, once they are read; false before that and afterwards.
  bool Take(SteadyTime now, Groups& groups);

 private:
  struct State {
    bool asked = false, done = false;
    Groups groups;
    Duration used{};  // CPU time
  };

  void Run(std::stop_token stop);
  std::optional<double> BytesOf(const std::vector<std::int64_t>& processes,
                                const std::stop_token& stop) const;

  const std::string root_;
  SteadyTime next_{};
  bool waiting_ = false;
  Guarded<State> state_;
  Worker worker_;  // started when it is asked for the first time
};

}  // namespace stepscope
