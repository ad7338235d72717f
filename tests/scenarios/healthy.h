#pragma once

#include <initializer_list>

#include "tests/scenarios/training.h"

namespace stepscope::scenarios {

// What the others change: one node with a GPU that is busy from the first step on, cores and disks
// that have room.
Training Healthy();

// More signs, and other ones for series that had some.
void Add(Training& training, std::initializer_list<Sign> signs);

}  // namespace stepscope::scenarios
