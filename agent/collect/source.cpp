#include "agent/collect/source.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kShortBuffer = 4096, kLongBuffer = 8192;
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

Result<std::size_t> Source::ReadAt(std::size_t offset, std::span<char> into) const {
  for (;;) {
    const ssize_t count = pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return Unavailable(Format("{}: {}", path_, std::strerror(errno)));
  }
}

// A rank has some ten files, and a node a thousand ranks: each keeps its text, not a page.
Result<std::string_view> Source::Read() {
  std::size_t size = 0;
  if (buffer_.size() < kLongBuffer) {
    std::array<char, kShortBuffer> text;
    const auto count = ReadAt(0, text);
    if (!count) return count.error();
    size = *count;
    buffer_.assign(text.data(), size);
    if (size < kSurelyAll) return std::string_view(buffer_);
    buffer_.resize(kLongBuffer);
  }
  return ReadLong(size);
}

// Goes on behind the first `size` bytes. The buffer stays: to read such a file in two pieces would
// make the kernel write it twice.
Result<std::string_view> Source::ReadLong(std::size_t size) {
  for (;;) {
    if (size == buffer_.size()) buffer_.resize(2 * size);
    if (size > kLargest) return Unavailable(Format("{}: larger than 16 MiB", path_));
    const auto count = ReadAt(size, std::span(buffer_).subspan(size));
    if (!count) return count.error();
    size += *count;
    if (*count == 0 || size < kSurelyAll) return std::string_view(buffer_).substr(0, size);
  }
}

}  // namespace stepscope
