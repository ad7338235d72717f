#pragma once

#include <cstddef>

namespace stepscope {

// What the agent may take in of one user's rings until they are read again. Whoever takes something
// in lowers it; what finds no room is counted as dropped, or stays in its ring.
struct MarkRoom {
  std::size_t marks = 0;       // marks that are read
  std::size_t sums = 0;        // new sums of annotations, see AnnotationSums
  std::size_t held_steps = 0;  // steps that wait for their times by the GPU's clock
  std::size_t bytes = 0;       // of names that stay: metrics

  // Takes `amount` of `left`, if there is so much.
  static bool Take(std::size_t& left, std::size_t amount = 1) {
    if (left < amount) return false;
    left -= amount;
    return true;
  }
};

}  // namespace stepscope
