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

// A file that only grows. What was appended survives the process; what was synced, the machine.
class AppendedFile {
 public:
  virtual ~AppendedFile() = default;
  virtual Status Append(std::string_view bytes) = 0;
  // After a failure nobody knows what is on disk: begin another file.
  virtual Status Sync() = 0;
};

// Held until it is destroyed, or the process ends.
class FolderLock {
 public:
  virtual ~FolderLock() = default;
};

// Everything that the spool asks of the file system, below one folder; paths are relative to it.
// The seam where tests crash, tear and fail. Errors: NotFound, Conflict (it is there already, or
// someone else holds the lock), Unavailable (no space) and Internal (all else). Read may be called
// from any thread.
class Files {
 public:
  virtual ~Files() = default;
  virtual Result<std::vector<FileEntry>> List(const std::string& folder) = 0;  // by name
  virtual Status MakeFolder(const std::string& path) = 0;
  virtual Status RemoveFolder(const std::string& path) = 0;  // an empty one
  virtual Status SyncFolder(const std::string& path) = 0;
  virtual Result<std::unique_ptr<FolderLock>> Lock(const std::string& folder) = 0;
  // A file that is not there yet; space for so many bytes is kept where the file system can.
  virtual Result<std::unique_ptr<AppendedFile>> Create(const std::string& path,
                                                       std::uint64_t reserved) = 0;
  // Makes the file when it is missing. Not synced.
  virtual Status WriteAt(const std::string& path, std::uint64_t offset, std::string_view bytes) = 0;
  // Fewer bytes where the file ends.
  virtual Result<std::string> Read(const std::string& path, std::uint64_t offset,
                                   std::size_t bytes) = 0;
  virtual Status Remove(const std::string& path) = 0;
};

// The real ones, below `folder`, which is made when it is missing. Invalid when it is a link, or
// belongs to or is open to someone else.
Result<std::unique_ptr<Files>> OpenFiles(const std::string& folder);

}  // namespace stepscope
