#include "core/base/nameless_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace stepscope {

Descriptor OpenNamelessFile(const std::string& folder) {
  Descriptor file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
  std::string name = folder + "/stepscope-XXXXXX";
  file = Descriptor(mkostemp(name.data(), O_CLOEXEC));
  if (file) unlink(name.c_str());
  return file;
}

Status WriteAllAt(const Descriptor& file, std::string_view bytes, std::uint64_t at) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(file.get(), bytes.data(), bytes.size(), off_t(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Unavailable(std::strerror(errno));
    at += std::uint64_t(count);
    bytes.remove_prefix(std::size_t(count));
  }
  return {};
}

}  // namespace stepscope
