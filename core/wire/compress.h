#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// zstd at level 1: higher levels buy less than 1.5 % on our columns.
std::string Compress(std::string_view bytes);

// The bytes again, which must be exactly `size` long; nothing larger is allocated, whatever the
// header says.
Result<std::string> Decompress(std::string_view bytes, std::size_t size);

}  // namespace stepscope
