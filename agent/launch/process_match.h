#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/launch/pattern.h"

namespace stepscope {

// A training process that a pattern found: one rank of a job.
struct MatchedProcess {
  std::string job;
  std::uint32_t user = 0;
  std::int32_t rank = 0;
  std::int64_t pid = 0;
  std::string devices;  // its CUDA_VISIBLE_DEVICES
};

// Finds training processes by their command lines, for those that do not register. Left out are
// what another agent serves, what has no job's name (said once), the workers of a rank, and a
// launcher beside its ranks. For one thread.
class ProcessMatch {
 public:
  // `allowed` says whose processes count.
  ProcessMatch(std::string root, Pattern pattern, std::function<bool(std::uint32_t user)> allowed)
      : root_(std::move(root)), pattern_(std::move(pattern)), allowed_(std::move(allowed)) {}

  // Those that run now, by pid. Walks over /proc; a process that does not fit is looked at three
  // times, since it may yet become its program, and then no more.
  std::vector<MatchedProcess> Scan();

 private:
  struct Candidate;

  void Consider(std::int64_t pid, std::vector<Candidate>& candidates);

  const std::string root_;
  const Pattern pattern_;
  const std::function<bool(std::uint32_t)> allowed_;
  std::map<std::int64_t, int> others_;     // that do not fit: how often they were looked at
  std::map<std::int64_t, bool> reported_;  // that have no name
};

}  // namespace stepscope
