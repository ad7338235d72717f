#include "server/postgres/ballast.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "core/base/descriptor.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::uint64_t kMB = 1'000'000;
constexpr std::uint64_t kLeastRoom =
    32 * 1024 * 1024;                        // two segments of PostgreSQL's log of changes
constexpr std::uint64_t kShare = 20;         // divides the size of the file system
constexpr std::uint64_t kUseful = 64 * kMB;  // with less, recovery was seen to end for want of room

std::string PathIn(const std::string& folder) {
  return folder + "/ballast";
}

std::optional<std::uint64_t> LengthOf(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

// Reserves the room in a file of `length`; the blocks are there when it returns. The length is
// never zero meanwhile, unless it was: others would take the room for freed.
Status Fill(int file, std::uint64_t length, std::uint64_t bytes) {
  if (bytes < length) {
    const int done = ftruncate(file, static_cast<off_t>(bytes));
    return done == 0 ? Status() : Unavailable(std::strerror(errno));
  }
  const int fault = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (fault == 0) return {};
  (void)!ftruncate(file, static_cast<off_t>(length));
  return Unavailable(std::strerror(fault));
}

// Makes the ballast, or resizes the one that has a `length`. A new one has its name when it is
// full.
Status MakeBallast(const std::string& path, std::optional<std::uint64_t> length,
                   std::uint64_t bytes) {
  struct stat other {};
  if (!length && lstat(path.c_str(), &other) == 0) {
    return Unavailable(Format("{}: is there and no plain file", path));
  }
  const std::string filled = length ? path : path + ".new";
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (length ? 0 : O_TRUNC);
  const Descriptor file(open(filled.c_str(), flags, 0600));
  if (!file) return Unavailable(Format("{}: {}", filled, std::strerror(errno)));
  Status done = Fill(file.get(), length.value_or(0), bytes);
  if (done && !length && rename(filled.c_str(), path.c_str()) != 0) {
    done = Unavailable(std::strerror(errno));
  }
  if (done) return done;
  if (!length) unlink(filled.c_str());
  return Unavailable(Format("{}: {}", path, done.error().message));
}

}  // namespace

std::uint64_t BallastBytes(std::uint64_t most, const Storage& storage) {
  const auto share = static_cast<std::uint64_t>(storage.all_bytes) / kShare / kMB * kMB;
  return std::min(most, std::max(share, kUseful));
}

Status KeepBallast(const std::string& folder, std::uint64_t most) {
  const std::string path = PathIn(folder);
  const std::optional<std::uint64_t> length = LengthOf(path);
  const Result<Storage> storage = LookAtStorage(folder);
  if (!storage) return storage.error();
  const std::uint64_t bytes = BallastBytes(most, *storage);
  if (bytes == 0) {
    unlink(path.c_str());
    return {};
  }
  if (length == bytes) return {};
  Storage after = *storage;
  after.free_bytes += double(length.value_or(0)) - double(bytes);
  if (after.free_bytes < 0 || after.low()) {
    return Unavailable(Format("no room for a ballast of {} MB: {}", bytes / kMB, storage->text()));
  }
  const Status made = MakeBallast(path, length, bytes);
  if (!made) return made;
  LogInfo("a ballast of {} MB is kept for the day the disk is full", bytes / kMB);
  return {};
}

bool SpendBallast(const std::string& folder, std::string_view why) {
  const std::string path = PathIn(folder);
  const std::uint64_t length = LengthOf(path).value_or(0);
  if (length == 0 || truncate(path.c_str(), 0) != 0) return false;
  LogError(
      "the disk is full ({}): the ballast of {} MB is given up so that PostgreSQL can go on; no "
      "frames are taken until there is room for it again",
      Printable(why, 300), length / kMB);
  return true;
}

bool SpendBallastWhenFull(const std::string& folder) {
  const Result<Storage> storage = LookAtStorage(folder);
  if (!storage || storage->free_bytes >= double(kLeastRoom)) return false;
  return SpendBallast(folder, storage->text());
}

bool IsBallastSpent(const std::string& folder) {
  return LengthOf(PathIn(folder)) == std::uint64_t{0};
}

std::uint64_t BallastHeld(const std::string& folder) {
  return LengthOf(PathIn(folder)).value_or(0);
}

}  // namespace stepscope
