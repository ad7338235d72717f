#pragma once

#include <optional>

#include "core/base/time.h"
#include "rules/diagnosis/host_signs.h"
#include "rules/diagnosis/host_sums.h"

namespace stepscope {

// The ticks of a node between the first and the newest step. Those behind the newest step are apart
// until another step ends: they may be finalisation.
struct NodeSums {
  HostSums loop, behind;
  std::optional<Time> newest;  // tick behind the newest step
  HostSeldom seldom;
  bool stepped = false;  // a tick after the first step was seen
  bool gpus = false;

  // The patience was over before the first step ended: what was counted until now is
  // initialisation.
  void StepEnded() {
    stepped = true;
    loop = behind = {};
    newest.reset();
  }
  // The ticks were before a step that has ended by now.
  void TakeBehind() {
    loop.Add(behind);
    behind = {};
    newest.reset();
  }

  template <typename State>
  void Fields(State& state) {
    state("loop", loop);
    state("behind", behind);
    state("newest", newest);
    state("seldom", seldom);
    state("stepped", stepped);
    state("gpus", gpus);
  }
};

}  // namespace stepscope
