#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "server/store/jobs/jobs.h"

namespace stepscope {

// The facts of ranks that the report reads, by name.
inline constexpr std::string_view kReportedFacts[] = {
    "framework", "dropped", "second_process", "loader_thread", "gpu_clock", "device_type"};

// Remarks of the processes of ranks that a reader must know, a sentence each: another
// process of the same rank, batches that another thread reads, the CPU as its device, the GPU's
// clock. Ranks that say the same share a sentence. Bounded, however many ranks say what.
class RankRemarks {
 public:
  static constexpr std::size_t kMost = 50;  // different ones; later ones are left out

  void Add(std::span<const RankRow> ranks);
  std::vector<std::string> Sentences() const;

 private:
  std::map<std::string, std::vector<std::int32_t>> by_words_;
  std::vector<std::string> order_;
};

}  // namespace stepscope
