#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agent/app/options/name_patterns.h"
#include "agent/marks/intake.h"
#include "core/base/guarded.h"
#include "core/base/result.h"

namespace stepscope {

// Names the jobs of processes that connect, and refuses names that are not for their users. Never
// waits: a process can keep whoever reads its environment waiting, and so can the directory that
// knows the users' names, so both are read on threads of their own, a few for each user. Any thread
// may call its functions.
class JobNaming {
 public:
  // `root` holds /proc.
  JobNaming(std::string root, NamePatterns allowed);

  // The job of a process; nothing while that is being found out: it is to be asked again.
  std::optional<Result<std::string>> NameOf(const MarkHello& hello, const MarkCaller& caller) const;

  // Whether the job may have processes of this user; nothing while that is being found out.
  std::optional<Status> MayName(const std::string& job, const MarkCaller& caller) const;

 private:
  struct Known;
  static Result<std::string> Find(Known& known, const std::string& said, const MarkCaller& caller);
  std::optional<Account> AccountOf(const MarkCaller& caller) const;

  std::shared_ptr<Known> known_;  // shared with threads that may outlive everything
};

}  // namespace stepscope
