#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agent/launch/launcher.h"
#include "core/base/guarded.h"

namespace stepscope {

// Whose job it is: the owner of its processes by name, and what Slurm says of it. The machine's
// directory of users may take long, or never answer, so it is asked on a thread of its own, for
// which the constructor waits 50 ms; until then, and where it does not know the user, Slurm's name
// counts, else the number does.
class JobOwner {
 public:
  explicit JobOwner(std::uint32_t uid);

  // Takes what the environment of a process of the job says.
  void Learn(const Environment& environment);

  // "ann", or "uid 1000". Changes once, when the directory has answered.
  std::string User() const;
  const std::string& account() const { return account_; }  // Slurm's; "" where there is none

 private:
  const std::uint32_t uid_;
  std::string slurm_user_, account_;
  // Shared with the thread, which may be left behind.
  const std::shared_ptr<Guarded<std::optional<std::string>>> known_;
};

}  // namespace stepscope
