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

// Processes whose memory is added up.
struct MemoryGroup {
  std::string device;
  std::vector<std::int64_t> pids;
  std::optional<double> bytes;  // set by the reading
};

// Memory of groups of processes; memory that several share is divided among them. The kernel walks
// all pages to answer, so a thread of its own reads it, once a minute at most and so seldom that it
// stays below 0.05 % of a core. For one thread.
class ProportionalMemory {
 public:
  using Groups = std::vector<MemoryGroup>;

  explicit ProportionalMemory(std::string root) : root_(std::move(root)) {}

  // Whether it is time for another reading, and none is in progress.
  bool Due(SteadyTime now) const;

  // Requests a reading. A group has no figure if a process of it may not be read, or is so large
  // that the walk could hold it up.
  void Ask(const Groups& groups, SteadyTime now);

  // Takes the requested groups, once they are read; false before that and afterwards.
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
  Worker worker_;  // started at the first request
};

}  // namespace stepscope
