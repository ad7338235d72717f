#pragma once

#include <string>

#include "tests/rules/pages/footprint.h"

namespace stepscope::scenarios {

// What a rule sees of a job, as SVG: its panels one below the other, with the stretches shaded in
// which it fired. Text and lines follow the reader's choice of light or dark.
std::string Picture(const Footprint& footprint, const Outcome& outcome);

}  // namespace stepscope::scenarios
