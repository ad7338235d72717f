// CheckSpool of check.h.

#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "agent/app/commands/check.h"
#include "agent/spool/files.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr int kMostFiles = 10'000;
constexpr std::uint64_t kMiB = 1024 * 1024;

// The folder, or the nearest existing one in which it will be created.
std::filesystem::path Nearest(std::filesystem::path folder) {
  std::error_code error;
  while (!std::filesystem::exists(folder, error) && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

// The reason why an agent of this user would go without the spool; empty where it would not.
std::string Obstacle(const std::string& folder, const std::filesystem::path& there) {
  if (there == folder) {
    const auto files = OpenFiles(folder);
    return files ? "" : files.error().message;
  }
  std::error_code error;
  const bool open =
      std::filesystem::is_directory(there, error) && access(there.c_str(), W_OK | X_OK) == 0;
  return open ? "" : Format("{}: this user cannot write there", Printable(folder));
}

std::uint64_t BytesIn(const std::filesystem::path& folder) {
  std::uint64_t bytes = 0;
  int files = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator file(folder, error), end;
       !error && file != end && files < kMostFiles; file.increment(error), ++files) {
    std::error_code gone;
    if (file->is_regular_file(gone)) bytes += file->file_size(gone);
  }
  return bytes;
}

CheckLine Line(CheckResult finding, std::string text) {
  return {"service", "spool", finding, std::move(text)};
}

}  // namespace

void CheckSpool(const SpoolOptions& options, CheckLines& lines) {
  if (options.folder.empty()) {
    return lines.push_back(Line(CheckResult::kAbsent, "samples wait in memory only"));
  }
  const std::filesystem::path there = Nearest(options.folder);
  if (const std::string obstacle = Obstacle(options.folder, there); !obstacle.empty()) {
    return lines.push_back(
        Line(CheckResult::kWrong, obstacle + "; or choose another with --spool, or 'none'"));
  }
  struct statvfs disk {};
  const bool known = statvfs(there.c_str(), &disk) == 0;
  const std::uint64_t free = known ? std::uint64_t{disk.f_bavail} * disk.f_frsize : 0;
  const bool small = known && free < options.bytes;
  lines.push_back(Line(small ? CheckResult::kNote : CheckResult::kFine,
                       Format("{}: {} MiB in it, {} MiB free, of which it takes at most {}",
                              Printable(options.folder), BytesIn(options.folder) / kMiB,
                              free / kMiB, options.bytes / kMiB)));
}

}  // namespace stepscope
