#pragma once

#include <map>
#include <memory>
#include <string>

#include "core/base/guarded.h"
#include "server/store/ticks/job_head.h"

namespace stepscope {

// The heads of jobs as they were last read. They only tell which ticks a request most likely reads
// (LoadHeadAndTicks), and are never shown. Safe from any thread.
class KnownHeads {
 public:
  // Null for a job without one.
  std::shared_ptr<const JobHead> Find(const std::string& job) const {
    return heads_.Read([&](const Heads& heads) -> std::shared_ptr<const JobHead> {
      const auto found = heads.find(job);
      return found == heads.end() ? nullptr : found->second;
    });
  }

  void Put(JobHead head) {
    if (head.nodes.size() > kMostNodes) return;
    auto known = std::make_shared<const JobHead>(std::move(head));
    heads_.Change([&](Heads& heads) {
      // With so many jobs at once a chart takes a second round trip now and then.
      if (heads.size() >= kMostJobs && !heads.contains(known->job.name)) heads.clear();
      heads[known->job.name].swap(known);  // the replaced head is freed outside of the lock
    });
  }

 private:
  using Heads = std::map<std::string, std::shared_ptr<const JobHead>>;
  static constexpr std::size_t kMostJobs = 256, kMostNodes = 256;
  Guarded<Heads> heads_;
};

}  // namespace stepscope
