#pragma once

#include <initializer_list>

#include "tests/scenarios/training.h"

namespace stepscope::scenarios {

// The job that the other scenarios change: one node with a GPU that is busy from the first step on,
// and with idle cores and disks.
Training Healthy();

// Adds signs; a sign replaces earlier ones of the same series.
void Add(Training& training, std::initializer_list<Sign> signs);

}  // namespace stepscope::scenarios
