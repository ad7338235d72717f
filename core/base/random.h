#pragma once

#include <cstddef>
#include <string>

#include "core/base/time.h"

namespace stepscope {

// Bytes from the kernel's generator, good enough for secrets.
std::string RandomBytes(std::size_t count);

// A number in [0, 1), for jitter.
double RandomShare();

// 1 +- 20 %, and a duration so stretched: what began together does not stay together.
double Stretch();
Duration Around(Duration duration);

}  // namespace stepscope
