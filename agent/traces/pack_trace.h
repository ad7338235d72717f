#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// What a training recorded is packed in memory, up to this; the service takes more.
inline constexpr std::size_t kMostTraceBody = 128 * 1024 * 1024;

// Fills in the next bytes of a trace file; returns how many, and 0 at its end or after an error.
using ReadTraceBytes = std::function<std::size_t(std::span<char> into)>;

// Whether a file that begins so is packed already.
bool IsPackedTrace(std::string_view bytes);

// The bytes of a trace file as they are sent: packed by zstd unless they are packed already. A file
// may be larger than memory, what is sent of it may not. Invalid when they would be more than
// `most`.
Result<std::string> PackTrace(const ReadTraceBytes& read, std::size_t most);

// A text as part of a query.
std::string QueryEncoded(std::string_view text);

}  // namespace stepscope
