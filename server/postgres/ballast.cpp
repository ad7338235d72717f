#include "server/postgres/ballast.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
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

// Reserves the room; the blocks are there when it returns.
Status Fill(int file, std::uint64_t bytes) {
  if (ftruncate(file, 0) != 0) return Unavailable(std::strerror(errno));
  const int fault = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (fault == 0) return {};
  (void)!ftruncate(file, 0);
  return Unavailable(std::strerror(fault));
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
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return Unavailable(Format("{}: {}", path, std::strerror(errno)));
  const Status filled = Fill(file.get(), bytes);
  if (!filled) {
    // A ballast that was given up stays empty; one that never was is not there yet.
    if (!length) unlink(path.c_str());
    return Unavailable(Format("{}: {}", path, filled.error().message));
  }
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
