#include "server/app/tls_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/base/descriptor.h"
#include "core/base/random.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostBytes = 64 * 1024;

Error Failed(const std::string& path, int error) {
  const std::string sentence = Format("{}: {}", path, std::strerror(error));
  if (error == EEXIST) return Conflict(Format("{} exists", path));
  return error == ENOENT ? NotFound(sentence) : Invalid(sentence);
}

Status Fill(const Descriptor& file, const std::string& path, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Failed(path, errno);
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return fsync(file.get()) == 0 ? Status() : Status(Failed(path, errno));
}

// link() fails when the name is taken, rename() does not.
Status Publish(const std::string& draft, const FileToWrite& file) {
  if (file.replace) {
    if (std::rename(draft.c_str(), file.path.c_str()) == 0) return {};
    return Failed(file.path, errno);
  }
  if (link(draft.c_str(), file.path.c_str()) == 0) return {};
  return Failed(file.path, errno);
}

}  // namespace

Status WriteWhole(const FileToWrite& file) {
  const std::string draft = Format("{}.{}", file.path, ToHex(RandomBytes(8)));
  const Descriptor open_file(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                  file.secret ? S_IRUSR | S_IWUSR : 0644));
  if (!open_file) return Failed(file.path, errno);
  Status written = Fill(open_file, file.path, file.text);
  if (written) written = Publish(draft, file);
  unlink(draft.c_str());
  return written;
}

Result<std::string> ReadWhole(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return Failed(path, errno);
  std::string text(kMostBytes + 1, '\0');
  std::size_t size = 0;
  ssize_t count = 1;
  while (count > 0 && size < text.size()) {
    count = read(file.get(), text.data() + size, text.size() - size);
    size += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  if (count < 0) return Failed(path, errno);
  if (size > kMostBytes) return Invalid(Format("{}: larger than 64 KiB", path));
  text.resize(size);
  return text;
}

Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return Invalid(Format("{}: {}", path, error.message()));
  return {};
}

}  // namespace stepscope
