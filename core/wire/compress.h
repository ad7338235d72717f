#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// Higher levels of zstd buy little on our columns: docs/wire.md has the figures.
constexpr int kCompressionLevel = 1;

std::string Compress(std::string_view bytes, int level = kCompressionLevel);

// Decompresses to exactly `size` bytes; nothing larger is allocated, whatever the header says.
Result<std::string> Decompress(std::string_view bytes, std::size_t size);

}  // namespace stepscope
