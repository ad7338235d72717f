// OpenFiles of files.h: the spool's system calls.

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "agent/spool/files.h"
#include "core/base/descriptor.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

Error ErrorOf(int error, std::string_view path) {
  const Code code = error == ENOENT                                        ? Code::kNotFound
                    : error == EEXIST || error == EWOULDBLOCK              ? Code::kConflict
                    : error == ENOSPC || error == EDQUOT || error == EFBIG ? Code::kUnavailable
                                                                           : Code::kInternal;
  return {code, Format("{}: {}", Printable(path), std::strerror(error))};
}

Status StatusOf(int result, std::string_view path) {
  return result == 0 ? Status() : Status(ErrorOf(errno, path));
}

// Writes all bytes, or fails; a signal or a short write does not end it.
Status WriteAll(int fd, std::string_view bytes, std::int64_t offset, std::string_view path) {
  while (!bytes.empty()) {
    const ssize_t count = offset < 0 ? write(fd, bytes.data(), bytes.size())
                                     : pwrite(fd, bytes.data(), bytes.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return ErrorOf(count == 0 ? EIO : errno, path);
    bytes.remove_prefix(static_cast<std::size_t>(count));
    if (offset >= 0) offset += count;
  }
  return {};
}

class SystemFile : public AppendedFile {
 public:
  SystemFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  // Releases the reserved space that was not used.
  ~SystemFile() override {
    struct stat status {};
    if (fstat(file_.get(), &status) != 0) return;
    [[maybe_unused]] const int cut = ftruncate(file_.get(), status.st_size);
  }

  Status Append(std::string_view bytes) override { return WriteAll(file_.get(), bytes, -1, path_); }
  Status Sync() override { return StatusOf(fdatasync(file_.get()), path_); }

 private:
  const Descriptor file_;
  const std::string path_;
};

class SystemLock : public FolderLock {
 public:
  explicit SystemLock(Descriptor folder) : folder_(std::move(folder)) {}

 private:
  const Descriptor folder_;  // the kernel releases the lock with the descriptor
};

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

class SystemFiles : public Files {
 public:
  explicit SystemFiles(Descriptor root) : root_(std::move(root)) {}

  Result<std::vector<FileEntry>> List(const std::string& folder) override {
    Descriptor open = OpenFolder(folder);
    if (!open) return ErrorOf(errno, folder);
    const std::unique_ptr<DIR, CloseFolder> stream(fdopendir(open.get()));
    if (!stream) return ErrorOf(errno, folder);
    open.Release();
    std::vector<FileEntry> entries;
    while (const dirent* entry = readdir(stream.get())) {
      struct stat status {};
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (fstatat(dirfd(stream.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      entries.push_back({std::string(name), S_ISDIR(status.st_mode),
                         static_cast<std::uint64_t>(status.st_size),
                         status.st_mtim.tv_sec * 1'000'000 + status.st_mtim.tv_nsec / 1000});
    }
    std::ranges::sort(entries, {}, &FileEntry::name);
    return entries;
  }

  Status MakeFolder(const std::string& path) override {
    return StatusOf(mkdirat(root_.get(), path.c_str(), 0700), path);
  }
  Status RemoveFolder(const std::string& path) override {
    return StatusOf(unlinkat(root_.get(), path.c_str(), AT_REMOVEDIR), path);
  }
  Status Remove(const std::string& path) override {
    return StatusOf(unlinkat(root_.get(), path.c_str(), 0), path);
  }
  Status SyncFolder(const std::string& path) override {
    const Descriptor folder = OpenFolder(path);
    if (!folder) return ErrorOf(errno, path);
    return StatusOf(fsync(folder.get()), path);
  }

  Result<std::unique_ptr<FolderLock>> Lock(const std::string& path) override {
    Descriptor folder = OpenFolder(path);
    if (!folder || flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return ErrorOf(errno, path);
    return std::unique_ptr<FolderLock>(std::make_unique<SystemLock>(std::move(folder)));
  }

  Result<std::unique_ptr<AppendedFile>> Create(const std::string& path,
                                               std::uint64_t reserved) override {
    Descriptor file = Open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL);
    if (!file) return ErrorOf(errno, path);
    const auto bytes = static_cast<off_t>(reserved);
    const bool full = bytes > 0 && fallocate(file.get(), FALLOC_FL_KEEP_SIZE, 0, bytes) != 0 &&
                      (errno == ENOSPC || errno == EDQUOT);
    if (full) {
      unlinkat(root_.get(), path.c_str(), 0);
      return ErrorOf(ENOSPC, path);
    }
    return std::unique_ptr<AppendedFile>(std::make_unique<SystemFile>(std::move(file), path));
  }

  Status WriteAt(const std::string& path, std::uint64_t offset, std::string_view bytes) override {
    const Descriptor file = Open(path, O_WRONLY | O_CREAT);
    if (!file) return ErrorOf(errno, path);
    return WriteAll(file.get(), bytes, static_cast<std::int64_t>(offset), path);
  }

  Result<std::string> Read(const std::string& path, std::uint64_t offset,
                           std::size_t bytes) override {
    const Descriptor file = Open(path, O_RDONLY);
    struct stat status {};
    if (!file || fstat(file.get(), &status) != 0) return ErrorOf(errno, path);
    const auto size = static_cast<std::uint64_t>(status.st_size);
    std::string text(offset < size ? std::min<std::uint64_t>(bytes, size - offset) : 0, '\0');
    std::size_t done = 0;
    while (done < text.size()) {
      const ssize_t count = pread(file.get(), text.data() + done, text.size() - done,
                                  static_cast<off_t>(offset + done));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return ErrorOf(errno, path);
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    text.resize(done);
    return text;
  }

 private:
  Descriptor Open(const std::string& path, int flags) const {
    return Descriptor(openat(root_.get(), path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0600));
  }
  Descriptor OpenFolder(const std::string& path) const {
    return Open(path.empty() ? "." : path, O_RDONLY | O_DIRECTORY);
  }

  const Descriptor root_;
};

}  // namespace

Result<std::unique_ptr<Files>> OpenFiles(const std::string& folder) {
  std::error_code failed;
  const std::filesystem::path path(folder);
  std::filesystem::create_directories(path.parent_path(), failed);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return ErrorOf(errno, folder);
  Descriptor root(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!root || fstat(root.get(), &status) != 0) return ErrorOf(errno, folder);
  if (status.st_uid != geteuid()) {
    return Invalid(Format("{}: belongs to another user", Printable(folder)));
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Invalid(Format("{}: is open to others; chmod 700 makes it yours", Printable(folder)));
  }
  if (faccessat(root.get(), ".", W_OK, AT_EACCESS) != 0) return ErrorOf(errno, folder);
  return std::unique_ptr<Files>(std::make_unique<SystemFiles>(std::move(root)));
}

}  // namespace stepscope
