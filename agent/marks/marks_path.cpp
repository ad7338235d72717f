// AgentFolders and DefaultSocketPath of intake.h.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "agent/marks/intake.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

struct Folder {
  std::string path;
  mode_t mode;
};

Folder DefaultFolder() {
  if (geteuid() == 0) return {"/run/stepscope", 0755};
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') return {std::string(runtime) + "/stepscope", 0700};
  return {Format("/tmp/stepscope-{}", geteuid()), 0700};
}

}  // namespace

std::vector<std::string> AgentFolders() {
  std::vector<std::string> folders;
  for (const std::string& path : {std::string("/run/stepscope"), DefaultFolder().path}) {
    struct stat file {};
    const bool there = lstat(path.c_str(), &file) == 0 && S_ISDIR(file.st_mode);
    const bool safe = (file.st_uid == 0 || file.st_uid == geteuid()) && (file.st_mode & 0022) == 0;
    if (there && safe && !std::ranges::count(folders, path)) folders.push_back(path);
  }
  return folders;
}

Result<std::string> DefaultSocketPath(const std::string& name) {
  const Folder folder = DefaultFolder();
  const bool made = mkdir(folder.path.c_str(), folder.mode) == 0;
  if (!made && errno != EEXIST) {
    return Invalid(Format("socket folder {}: {}", Printable(folder.path), strerror(errno)));
  }
  // Sets the mode whatever the umask is: the sockets in the folder restrict who may connect.
  if (made) chmod(folder.path.c_str(), folder.mode);
  struct stat file {};
  if (lstat(folder.path.c_str(), &file) != 0 || !S_ISDIR(file.st_mode) ||
      file.st_uid != geteuid() || (file.st_mode & 0022) != 0) {
    return Invalid(
        Format("socket folder {}: not a folder of this user alone; remove it or set "
               "STEPSCOPE_SOCKET",
               Printable(folder.path)));
  }
  return Format("{}/{}.sock", folder.path, name);
}

}  // namespace stepscope
