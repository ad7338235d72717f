#pragma once

#include <vector>

#include "rules/signals/step_sums.h"

namespace stepscope {

// The standard error of the mean of steps, from the sum of the squares of their seconds.
double ErrorOf(const StepSums& sums, double squares);

// Whether two windows of steps have one pace: their means differ by no more than 5 %; where steps
// are of several kinds, by no more than chance explains, and 15 %.
bool HasOnePace(double mean_s, double other_s, double error_s);

// The middle value, or the upper of the two in the middle; 0 of no values.
double MiddleOf(std::vector<double> values);

}  // namespace stepscope
