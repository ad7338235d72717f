#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/launch/pattern.h"
#include "core/base/result.h"

namespace stepscope {

// A training process that a pattern found: one rank of a job.
struct MatchedProcess {
  std::string job;
  std::uint32_t user = 0, group = 0;
  std::int32_t rank = 0;
  std::int64_t pid = 0;
  std::string devices;  // its CUDA_VISIBLE_DEVICES
};

// Finds training processes by their command lines, for jobs that do not register. Leaves out
// processes of another agent, processes without a job's name (logged once), the workers of a rank,
// and a launcher beside its ranks. For one thread.
class ProcessMatch {
 public:
  // Decides whether a process may be in its job; nothing while that is being found out.
  using MayName = std::function<std::optional<Status>(const MatchedProcess& process)>;

  // `allowed` decides whose processes count.
  ProcessMatch(std::string root, Pattern pattern, std::function<bool(std::uint32_t user)> allowed,
               MayName may_name)
      : root_(std::move(root)),
        pattern_(std::move(pattern)),
        allowed_(std::move(allowed)),
        may_name_(std::move(may_name)) {}

  // The processes that run now, by pid. Walks over /proc; a process that does not fit is checked
  // three times, since it may yet become its program, and then no more.
  std::vector<MatchedProcess> Scan();

 private:
  struct Candidate;

  void Refuse(std::int64_t pid, const Error& why);
  void Consider(std::int64_t pid, std::vector<Candidate>& candidates);

  const std::string root_;
  const Pattern pattern_;
  const std::function<bool(std::uint32_t)> allowed_;
  const MayName may_name_;
  std::map<std::int64_t, int> others_;     // do not fit: how often they were checked
  std::map<std::int64_t, bool> reported_;  // have no job's name, or a wrong one, which was logged
};

}  // namespace stepscope
