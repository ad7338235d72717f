#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/clock.h"

namespace stepscope {

// Ends processes and all that they started: SIGTERM, and SIGKILL to those that are left when the
// grace is over. SIGTERM goes to a process once, and only when none of the others is its parent:
// what started it passes the signal on in its own way, or leaves it behind. For one thread.
class ProcessStop {
 public:
  ProcessStop(Duration grace, const Clock& clock);

  // Those that have ended already, and this process, are left out.
  void Add(const std::vector<std::int64_t>& pids);

  // Does what is due; to be called every second or so, until it is over.
  void Continue();

  // None of them is left, or even SIGKILL did not end them.
  bool Over() const;

 private:
  struct Member {
    std::uint64_t started = 0;  // a number that was given to another process has another one
    std::int64_t parent = 0;
    bool terminated = false;
  };

  // Nothing when it has ended.
  static std::optional<Member> Find(std::int64_t pid);
  void DropEnded();
  void AddChildren();
  void Terminate();
  void Kill();

  const Clock& clock_;
  const Duration grace_;
  const SteadyTime began_;
  std::map<std::int64_t, Member> members_;  // by number
  std::optional<SteadyTime> killed_;
};

}  // namespace stepscope
