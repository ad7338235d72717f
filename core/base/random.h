#pragma once

#include <cstddef>
#include <string>

#include "core/base/time.h"

namespace stepscope {

// Bytes from the kernel's generator, good enough for secrets.
std::string RandomBytes(std::size_t count);

// A number in [0, 1), for jitter.
double RandomShare();

// A random factor of 1 +- 20 %, and a duration multiplied by one, so that agents which start
// together do not stay in step.
double Stretch();
Duration Around(Duration duration);

}  // namespace stepscope
