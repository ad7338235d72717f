#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "server/postgres/storage.h"

namespace stepscope {

// A file in the data folder that only takes room: the room that PostgreSQL needs to come up again
// after the disk was full. Its length tells its state, also to the next process:
//   no file     there was no room for one yet
//   its size    the room is reserved
//   empty       the room was freed; until it is reserved again, nobody may fill the disk with
//   frames
// Functions of a folder; for one thread at a time, but for those that only read.

// The room to take on a file system: a twentieth at most, but no less than is of use (64 MB).
std::uint64_t BallastBytes(std::uint64_t most, const Storage& storage);

// Creates or resizes the ballast, unless the disk would then be low; removes it when `most` is 0.
// Unavailable: there is no room.
Status KeepBallast(const std::string& folder, std::uint64_t most);

// Frees the ballast's room, and logs that. False when there is none to free.
bool SpendBallast(const std::string& folder, std::string_view why);

// Frees it when so little is free that PostgreSQL could not extend its write-ahead log.
bool SpendBallastWhenFull(const std::string& folder);

bool IsBallastSpent(const std::string& folder);
std::uint64_t BallastHeld(const std::string& folder);  // bytes

}  // namespace stepscope
