#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/base/guarded.h"
#include "core/base/time.h"
#include "server/store/postgres/citus_workers.h"

namespace stepscope {

// On which machine of Citus each job lies, as far as it is known, and when each machine answered:
// one that hangs may hold up no more writers than its own, and one that answers does not hang,
// whatever a transaction waits for. Bounded. Safe from any thread.
class JobMachines {
 public:
  static constexpr Duration kFresh = 60s;  // shards move from machine to machine
  static constexpr std::size_t kMostJobs = 10'000;

  std::optional<std::int64_t> Of(const std::string& job) const;  // its number
  std::optional<CitusMachine> Find(const std::string& job) const;
  // Whether it was asked lately, with or without an answer.
  bool IsFresh(const std::string& job, SteadyTime now) const;
  void Put(const std::string& job, std::optional<CitusMachine> machine, SteadyTime now);

  // A machine answered a question that it was asked without the coordinator.
  void NoteAnswer(std::int64_t number, SteadyTime now);
  bool HasAnsweredSince(const std::string& job, SteadyTime since) const;

 private:
  struct Entry {
    std::optional<CitusMachine> machine;
    SteadyTime asked{};
  };
  Guarded<std::map<std::string, Entry>> entries_;
  Guarded<std::map<std::int64_t, SteadyTime>> answers_;  // the last of each machine
};

}  // namespace stepscope
