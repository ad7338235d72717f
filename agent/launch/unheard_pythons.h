#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/launch/missing_hooks.h"

namespace stepscope {

// Finds Pythons of a node that name a job by STEPSCOPE_JOB, run torch and do not connect, because
// the hooks are not in them: for an agent that did not start them. For one thread.
class UnheardPythons {
 public:
  // `allowed` decides whose processes count.
  UnheardPythons(HooksWay way, std::function<bool(std::uint32_t user)> allowed)
      : way_(std::move(way)), allowed_(std::move(allowed)) {}

  // A sentence for each job whose process was found now for the first time; processes in
  // `connected` are left out. Walks over /proc; a process is read a few times and then no more.
  std::vector<std::string> Scan(const std::set<std::int64_t>& connected);

 private:
  // The job that the process names, and why it is not heard; "" where there is nothing to say.
  std::pair<std::string, std::string> Consider(std::int64_t pid);

  const HooksWay way_;
  const std::function<bool(std::uint32_t)> allowed_;
  std::map<std::int64_t, int> scans_;  // of each process, how many are left
  std::set<std::string> told_;         // jobs
};

}  // namespace stepscope
