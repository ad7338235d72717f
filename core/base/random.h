#pragma once

#include <cstddef>
#include <string>

namespace stepscope {

// Bytes from the kernel's generator, good enough for secrets.
std::string RandomBytes(std::size_t count);

// A number in [0, 1), for jitter.
double RandomShare();

}  // namespace stepscope
