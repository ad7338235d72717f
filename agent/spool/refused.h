#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "agent/spool/files.h"
#include "core/wire/session.h"

namespace stepscope {

// The folder for copies of frames that the service refused for ever: in the spool, for people who
// want to know the reason. Each copy is a recording.
inline constexpr const char* kRefusedFolder = "refused";
// Bounds of the copies, beside the spool's own; beyond either the oldest are removed.
inline constexpr std::uint64_t kMostRefusedBytes = 4 * 1024 * 1024;
inline constexpr std::size_t kMostRefusedFrames = 256;

// Stores such a copy, and returns its path below the spool's folder. Unavailable when the disk is
// full; Internal when it fails. `frame` is as on the wire, with its schema.
Result<std::string> KeepRefused(Files& files, const Session& session, std::uint64_t number,
                                std::string_view frame);

}  // namespace stepscope
