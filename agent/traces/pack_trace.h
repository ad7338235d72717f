#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace stepscope {

// What a training recorded is sent up to this size, packed; the service takes more.
inline constexpr std::size_t kMostTraceBody = 128 * 1024 * 1024;

// Fills in the next bytes of a trace file; returns how many, and 0 at its end or after an error.
using ReadTraceBytes = std::function<std::size_t(std::span<char> into)>;

// Whether a file that begins so is packed already.
bool IsPackedTrace(std::string_view bytes);

// A trace as it is sent, in a file without a name.
struct PackedBody {
  Descriptor file;
  std::uint64_t bytes = 0;
  std::uint32_t crc32c = 0;

  // The bytes from there on; valid as long as this.
  std::size_t Read(std::uint64_t at, std::span<char> into) const;
};

// The bytes of a trace file as they are sent: packed by zstd unless they are packed already, piece
// by piece into a file beside other temporary ones, or in memory where there is no folder for them.
// Invalid when they would be more than `most`; Unavailable when there is no room.
Result<PackedBody> PackTrace(const ReadTraceBytes& read, std::size_t most);

// A text as part of a query.
std::string QueryEncoded(std::string_view text);

}  // namespace stepscope
