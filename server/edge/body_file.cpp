#include "server/edge/body_file.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "core/base/detached_thread.h"
#include "core/base/nameless_file.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::uint64_t kLeastFree = 1024 * 1024 * 1024;
constexpr std::uint64_t kSoonGone = 64 * 1024 * 1024;  // a larger file takes a while

Descriptor OpenHereOrThere(const std::string& folder) {
  Descriptor file = OpenNamelessFile(folder);
  std::error_code fault;
  const std::filesystem::path other = std::filesystem::temp_directory_path(fault);
  return file || fault ? std::move(file) : OpenNamelessFile(other.string());
}

bool HasRoom(int file, std::uint64_t bytes) {
  struct statvfs disk {};
  if (fstatvfs(file, &disk) != 0) return false;
  return std::uint64_t(disk.f_bavail) * disk.f_frsize >= kLeastFree + bytes;
}

}  // namespace

Result<std::shared_ptr<BodyFile>> BodyFile::Make(const std::string& folder,
                                                 std::shared_ptr<BodyShares> shares,
                                                 std::string whose) {
  Descriptor file = folder.empty() ? Descriptor() : OpenHereOrThere(folder);
  if (!file) return Unavailable("there is no place for a file of this size");
  return std::shared_ptr<BodyFile>(
      new BodyFile(std::move(file), std::move(shares), std::move(whose)));
}

// To free the blocks of a large file takes a while, and the last holder may be a thread that never
// waits.
BodyFile::~BodyFile() {
  shares_->Return(whose_, taken_);
  if (bytes_ < kSoonGone) return;
  const int file = file_.Release();
  if (!StartDetachedThread("close", [file] { close(file); })) close(file);
}

Status BodyFile::Append(std::string_view bytes) {
  if (!shares_->Take(whose_, bytes.size())) {
    return Unavailable("there are as many large bodies as there may be; try again");
  }
  taken_ += bytes.size();
  if (!HasRoom(file_.get(), bytes.size())) return Unavailable("the disk has no room for the body");
  const Status written = WriteAllAt(file_, bytes, bytes_);
  if (!written) {
    return Unavailable(Format("the body cannot be kept: {}", written.error().message));
  }
  bytes_ += bytes.size();
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
