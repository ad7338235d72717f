#include "agent/host/thread_children.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "agent/host/process_text.h"
#include "core/base/descriptor.h"

namespace stepscope {
namespace {

constexpr int kMostThreads = 1024;

}  // namespace

std::optional<ThreadChildren> ThreadChildren::Open(const std::string& folder) {
  DIR* const opened = opendir(folder.c_str());
  if (opened == nullptr) return std::nullopt;
  return ThreadChildren(opened);
}

bool ThreadChildren::Into(std::vector<std::int64_t>& pids) {
  rewinddir(folder_.get());
  int threads = 0;
  while (threads < kMostThreads) {
    const dirent* const entry = readdir(folder_.get());
    if (entry == nullptr) break;
    if (entry->d_name[0] == '.') continue;
    ++threads;
    ReadOne(entry->d_name, pids);
  }
  return threads > 0;
}

void ThreadChildren::ReadOne(const char* thread, std::vector<std::int64_t>& pids) {
  char name[sizeof(dirent::d_name) + sizeof("/children")];
  std::snprintf(name, sizeof name, "%s/children", thread);
  const Descriptor file(openat(dirfd(folder_.get()), name, O_RDONLY | O_CLOEXEC));
  if (!file) return;
  char buffer[4096];  // more children than fit are found when others have ended
  const ssize_t size = read(file.get(), buffer, sizeof buffer);
  if (size <= 0) return;
  std::string_view text(buffer, static_cast<std::size_t>(size));
  // A number at the end may be cut in two.
  if (text.size() == sizeof buffer) text = text.substr(0, text.rfind(' ') + 1);
  ParseChildren(text, pids);
}

}  // namespace stepscope
