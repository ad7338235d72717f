#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/clock.h"

namespace stepscope {

// Ends processes and all that they started: SIGTERM, and SIGKILL to processes that are left when
// the grace is over. SIGTERM goes to a process once, and only when none of the others is its
// parent: the parent passes the signal on in its own way, or leaves the child behind. For one
// thread.
class ProcessStop {
 public:
  ProcessStop(Duration grace, const Clock& clock);

  // Adds processes; those that have ended already, and this process, are left out.
  void Add(const std::vector<std::int64_t>& pids);

  // Takes the next step; to be called every second or so, until Over.
  void Continue();

  // No process is left, or even SIGKILL did not end them.
  bool Over() const;

 private:
  struct Member {
    std::uint64_t started = 0;  // start time: differs when the pid is reused
    std::int64_t parent = 0;
    bool terminated = false;
  };

  // Nothing when the process has ended.
  static std::optional<Member> Find(std::int64_t pid);
  void DropEnded();
  void AddChildren();
  void Terminate();
  void Kill();

  const Clock& clock_;
  const Duration grace_;
  const SteadyTime began_;
  std::map<std::int64_t, Member> members_;  // by pid
  std::optional<SteadyTime> killed_;
};

}  // namespace stepscope
