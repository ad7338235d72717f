#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "agent/spool/files.h"
#include "core/wire/session.h"

namespace stepscope {

// Where copies of frames lie that the service refused for ever: in the spool, for people who want
// to know what was wrong with them. Each is a recording of its own.
inline constexpr const char* kRefusedFolder = "refused";
// Beside what the spool may take. Beyond either the oldest go.
inline constexpr std::uint64_t kMostRefusedBytes = 4 * 1024 * 1024;
inline constexpr std::size_t kMostRefusedFrames = 256;

// Keeps such a copy, and returns its path below the spool's folder. Unavailable when the disk is
// full; Internal when it fails. `frame` is as on the wire, its schema in it.
Result<std::string> KeepRefused(Files& files, const Session& session, std::uint64_t number,
                                std::string_view frame);

}  // namespace stepscope
