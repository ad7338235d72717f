#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// The service takes no more than this of a trace file, as it is sent.
inline constexpr std::size_t kMostTraceBody = 128 * 1024 * 1024;

// Fills in the next bytes of a trace file; returns how many, and 0 at its end or after an error.
using ReadTraceBytes = std::function<std::size_t(std::span<char> into)>;

// The bytes of a trace file as they are sent: packed by zstd unless they are packed already. A file
// may be larger than memory, what is sent of it may not. Invalid when they would be more than
// `most`.
Result<std::string> PackTrace(const ReadTraceBytes& read, std::size_t most);

// A text as part of a query.
std::string QueryEncoded(std::string_view text);

}  // namespace stepscope
