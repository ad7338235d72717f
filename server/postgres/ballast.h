#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "server/postgres/storage.h"

namespace stepscope {

// A file in the data folder that only takes room: the room that PostgreSQL needs to come up again
// after the disk was full. Its length says how it stands, also to the next process:
//   no file     there was no room for one yet
//   its size    it is there
//   empty       it was given up; until it is back, nobody may fill the disk with frames
// Functions of a folder; for one thread at a time, but those that only look.

// What is taken of a file system: a twentieth at most, but no less than is of use (64 MB).
std::uint64_t BallastBytes(std::uint64_t most, const Storage& storage);

// Makes it, or gives it another size, unless the disk would then be low; removes it when `most` is
// 0. Unavailable: there is no room.
Status KeepBallast(const std::string& folder, std::uint64_t most);

// Gives it up, and says so in the log. False when there is none to give.
bool SpendBallast(const std::string& folder, std::string_view why);

// The same when so little is free that PostgreSQL could not add to its log of changes.
bool SpendBallastWhenFull(const std::string& folder);

bool IsBallastSpent(const std::string& folder);
std::uint64_t BallastHeld(const std::string& folder);  // bytes

}  // namespace stepscope
