#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace stepscope {

// The GPUs that the ranks of a job may use. A rank keeps them when it has ended.
class RankGpus {
 public:
  void Add(std::int32_t rank, const std::vector<std::string>& devices) {
    by_rank_[rank].insert(devices.begin(), devices.end());
  }

  // The rank computes on the CPU: what it may use is not the job's.
  void Clear(std::int32_t rank) { by_rank_[rank].clear(); }

  std::set<std::string> All() const {
    std::set<std::string> all;
    for (const auto& [rank, devices] : by_rank_) all.insert(devices.begin(), devices.end());
    return all;
  }

 private:
  std::map<std::int32_t, std::set<std::string>> by_rank_;
};

}  // namespace stepscope
