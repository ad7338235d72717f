#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

struct FileEntry {
  std::string name;
  bool is_folder = false;
  std::uint64_t bytes = 0;
  std::int64_t changed_us = 0;
};

// A file that only grows. Appended bytes survive the process; synced bytes survive the machine.
class AppendedFile {
 public:
  virtual ~AppendedFile() = default;
  virtual Status Append(std::string_view bytes) = 0;
  // After a failure the content on disk is unknown: begin another file.
  virtual Status Sync() = 0;
};

// A lock that is held until it is destroyed, or the process ends.
class FolderLock {
 public:
  virtual ~FolderLock() = default;
};

// The file system below one folder; paths are relative to it. Tests replace it, to let it crash,
// tear and fail. Errors: NotFound, Conflict (the path exists, or the lock is held by another),
// Unavailable (no space) and Internal (all else). Read may be called from any thread.
class Files {
 public:
  virtual ~Files() = default;
  virtual Result<std::vector<FileEntry>> List(const std::string& folder) = 0;  // by name
  virtual Status MakeFolder(const std::string& path) = 0;
  virtual Status RemoveFolder(const std::string& path) = 0;  // must be empty
  virtual Status SyncFolder(const std::string& path) = 0;
  virtual Result<std::unique_ptr<FolderLock>> Lock(const std::string& folder) = 0;
  // Creates a file that must not exist; reserves space for so many bytes where the file system can.
  virtual Result<std::unique_ptr<AppendedFile>> Create(const std::string& path,
                                                       std::uint64_t reserved) = 0;
  // Creates the file when it is missing. Does not sync.
  virtual Status WriteAt(const std::string& path, std::uint64_t offset, std::string_view bytes) = 0;
  // Returns fewer bytes at the end of the file.
  virtual Result<std::string> Read(const std::string& path, std::uint64_t offset,
                                   std::size_t bytes) = 0;
  virtual Status Remove(const std::string& path) = 0;
};

// The real file system below `folder`, which is created when it is missing. Invalid when it is a
// link, or belongs to or is open to someone else.
Result<std::unique_ptr<Files>> OpenFiles(const std::string& folder);

}  // namespace stepscope
