#pragma once

#include "rules/diagnosis/host_sums.h"
#include "rules/engine/rule.h"

namespace stepscope {

// The part of the cores of a job's nodes that worked in the training. Unknown as soon as that of
// one node is, or where the job may not use all cores of its node.
class BusyCores {
 public:
  // `percent`: the mean use of all cores of the node.
  void Add(const NodeFacts& node, const SampleMean& percent) {
    known_ = known_ && percent.known() && node.cores > 0 && node.Usable() == node.cores;
    busy_ += percent.Value() / 100 * node.cores;
    cores_ += node.cores;
  }
  // 0 to 1; 0 where it is not known.
  double Part() const { return known_ && cores_ > 0 ? busy_ / cores_ : 0; }

 private:
  bool known_ = true;
  double busy_ = 0, cores_ = 0;
};

}  // namespace stepscope
