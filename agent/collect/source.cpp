#include "agent/collect/source.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kFirstBuffer = 4096;
constexpr std::size_t kLargest = 16 * 1024 * 1024;
// The kernel returns such files by the page, so a reading of less than half of one, with room for
// more, is the whole text: no second call is needed.
constexpr std::size_t kSurelyAll = 2048;

}  // namespace

Result<Source> Source::Open(const std::string& root, const std::string& path) {
  Descriptor file(open((root + path).c_str(), O_RDONLY | O_CLOEXEC));
  if (file) return Source(std::move(file), path);
  const std::string message = Format("{}: {}", path, std::strerror(errno));
  return errno == ENOENT ? NotFound(message) : Unavailable(message);
}

Result<std::string_view> Source::Read() {
  if (buffer_.empty()) buffer_.resize(kFirstBuffer);
  std::size_t size = 0;
  for (;;) {
    if (size == buffer_.size()) buffer_.resize(2 * size);
    if (size > kLargest) return Unavailable(Format("{}: larger than 16 MiB", path_));
    const ssize_t count =
        pread(file_.get(), buffer_.data() + size, buffer_.size() - size, static_cast<off_t>(size));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Unavailable(Format("{}: {}", path_, std::strerror(errno)));
    if (count == 0) return std::string_view(buffer_).substr(0, size);
    size += static_cast<std::size_t>(count);
    if (size < kSurelyAll) return std::string_view(buffer_).substr(0, size);
  }
}

}  // namespace stepscope
