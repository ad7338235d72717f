#pragma once

#include "rules/diagnosis/host_sums.h"
#include "rules/engine/rule.h"

namespace stepscope {

// The part of the cores that a job may use which worked in the training. Unknown as soon as that of
// one node is. Where the job may not use all cores of its node, the others' work is not its own:
// there its training threads and loaders count, which is the least that worked.
class BusyCores {
 public:
  // `ranks`: those of the node.
  void Add(const NodeFacts& node, const HostSums& sums, std::size_t ranks) {
    const int cores = node.Usable();
    const bool whole = cores == node.cores;
    const SampleMean& seen = whole ? sums.cpu_percent : sums.thread_percent;
    known_ = known_ && cores > 0 && seen.known();
    const double own = static_cast<double>(ranks) * sums.thread_percent.Value() +
                       sums.loaders.Value() * sums.loader_percent.Value();
    busy_ += whole ? sums.cpu_percent.Value() / 100 * cores : std::min<double>(own / 100, cores);
    cores_ += cores;
  }
  // 0 to 1; 0 where it is not known.
  double Part() const { return known_ && cores_ > 0 ? busy_ / cores_ : 0; }

 private:
  bool known_ = true;
  double busy_ = 0, cores_ = 0;
};

}  // namespace stepscope
