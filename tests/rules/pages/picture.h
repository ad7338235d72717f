#pragma once

#include <string>

#include "tests/rules/pages/footprint.h"

namespace stepscope::scenarios {

// The data of a job that a rule sees, as SVG: panels one below the other, with the stretches shaded
// in which the rule fired. Text and lines follow the reader's choice of light or dark.
std::string Picture(const Footprint& footprint, const Outcome& outcome);

}  // namespace stepscope::scenarios
