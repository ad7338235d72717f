#pragma once

#include <dirent.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stepscope {

// The children of all threads of one process: its folder "task", kept open and read with few calls,
// because some hundred threads are common. For one thread.
class ThreadChildren {
 public:
  // Nothing when there is no such folder.
  static std::optional<ThreadChildren> Open(const std::string& folder);

  // Adds the children's pids; false when the process has ended.
  bool Into(std::vector<std::int64_t>& pids);

 private:
  struct Close {
    void operator()(DIR* folder) const { closedir(folder); }
  };
  explicit ThreadChildren(DIR* folder) : folder_(folder) {}
  void ReadOne(const char* thread, std::vector<std::int64_t>& pids);

  std::unique_ptr<DIR, Close> folder_;
};

}  // namespace stepscope
