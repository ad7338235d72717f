#include "server/edge/body_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/base/detached_thread.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::uint64_t kLeastFree = 1024 * 1024 * 1024;
constexpr std::uint64_t kSoonGone = 64 * 1024 * 1024;  // a larger file takes a while

Descriptor OpenIn(const std::string& folder) {
  Descriptor file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string name = folder + "/body-XXXXXX";
  file = Descriptor(mkostemp(name.data(), O_CLOEXEC));
  if (file) unlink(name.c_str());
  return file;
}

Descriptor OpenNameless(const std::string& folder) {
  Descriptor file = OpenIn(folder);
  std::error_code fault;
  const std::filesystem::path other = std::filesystem::temp_directory_path(fault);
  return file || fault ? std::move(file) : OpenIn(other.string());
}

bool HasRoom(int file, std::uint64_t bytes) {
  struct statvfs disk {};
  if (fstatvfs(file, &disk) != 0) return false;
  return std::uint64_t(disk.f_bavail) * disk.f_frsize >= kLeastFree + bytes;
}

}  // namespace

Result<std::shared_ptr<BodyFile>> BodyFile::Make(const std::string& folder,
                                                 std::shared_ptr<ByteBudget> budget) {
  Descriptor file = folder.empty() ? Descriptor() : OpenNameless(folder);
  if (!file) return Unavailable("there is no place for a file of this size");
  return std::shared_ptr<BodyFile>(new BodyFile(std::move(file), std::move(budget)));
}

// To free the blocks of a large file takes a while, and the last holder may be a thread that never
// waits.
BodyFile::~BodyFile() {
  if (bytes_ < kSoonGone) return;
  const int file = file_.Release();
  if (!StartDetachedThread("close", [file] { close(file); })) close(file);
}

Status BodyFile::Append(std::string_view bytes) {
  if (!held_.Set(bytes_ + bytes.size())) {
    return Unavailable("there are as many large bodies as there may be; try again");
  }
  if (!HasRoom(file_.get(), bytes.size())) return Unavailable("the disk has no room for the body");
  while (!bytes.empty()) {
    const ssize_t count = pwrite(file_.get(), bytes.data(), bytes.size(), off_t(bytes_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return Unavailable(Format("the body cannot be kept: {}", std::strerror(errno)));
    }
    bytes_ += std::uint64_t(count);
    bytes.remove_prefix(std::size_t(count));
  }
  return {};
}

std::size_t BodyFile::Read(std::uint64_t at, std::span<char> into) const {
  ssize_t count = -1;
  do {
    count = pread(file_.get(), into.data(), into.size(), off_t(at));
  } while (count < 0 && errno == EINTR);
  return std::size_t(std::max<ssize_t>(count, 0));
}

std::uint64_t BodySize(const Request& request) {
  return request.body.size() + (request.body_file ? request.body_file->bytes() : 0);
}

std::function<std::size_t(std::span<char>)> ReadBody(const Request& request) {
  return [&request, at = std::uint64_t{0}](std::span<char> into) mutable {
    const std::uint64_t in_file = request.body_file ? request.body_file->bytes() : 0;
    std::size_t count = 0;
    if (at < in_file) {
      count = request.body_file->Read(at, into);
    } else if (at - in_file < request.body.size()) {
      count = request.body.copy(into.data(), into.size(), std::size_t(at - in_file));
    }
    at += count;
    return count;
  };
}

}  // namespace stepscope
