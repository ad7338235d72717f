#include "agent/app/commands/trace_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "agent/app/job/pack_trace.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 10'000;
constexpr std::string_view kEndings[] = {".json", ".json.gz", ".json.zst", ".xplane.pb"};

bool LooksLikeTrace(const std::string& name) {
  return std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

// TensorFlow and JAX may write the same profile twice, side by side; this one has less of it.
bool IsSecondForm(const fs::path& path) {
  constexpr std::string_view kSecond = ".trace.json.gz", kFirst = ".xplane.pb";
  std::string name = path.string();
  if (!name.ends_with(kSecond)) return false;
  name.replace(name.size() - kSecond.size(), kSecond.size(), kFirst);
  std::error_code failed;
  return fs::is_regular_file(name, failed);
}

TraceFile FileAt(const fs::path& path) {
  std::error_code failed;
  const auto bytes = fs::file_size(path, failed);
  return {path.string(), path.filename().string(), failed ? 0 : bytes};
}

// Links are not followed: they may lead in a circle.
Result<std::vector<TraceFile>> FilesBelow(const std::string& folder) {
  std::vector<TraceFile> files;
  std::error_code failed;
  auto entry = fs::recursive_directory_iterator(
      folder, fs::directory_options::skip_permission_denied, failed);
  for (const fs::recursive_directory_iterator end; !failed && entry != end;
       entry.increment(failed)) {
    std::error_code unknown;
    const bool wanted = entry->is_regular_file(unknown) && !entry->is_symlink(unknown) &&
                        LooksLikeTrace(entry->path().filename().string()) &&
                        !IsSecondForm(entry->path());
    if (wanted) files.push_back(FileAt(entry->path()));
    if (files.size() > kMostFiles) {
      return Invalid(Format("{}: more than {} trace files", Printable(folder), kMostFiles));
    }
  }
  if (files.empty()) {
    return Invalid(Format("{}: no file there ends in .json, .json.gz, .json.zst or .xplane.pb",
                          Printable(folder)));
  }
  std::ranges::sort(files, {}, &TraceFile::path);
  return files;
}

}  // namespace

Result<std::vector<TraceFile>> FindTraceFiles(const std::vector<std::string>& words) {
  std::vector<TraceFile> files;
  for (const std::string& word : words) {
    std::error_code failed;
    if (fs::is_directory(word, failed)) {
      const auto below = FilesBelow(word);
      if (!below) return below.error();
      files.insert(files.end(), below->begin(), below->end());
    } else if (fs::is_regular_file(word, failed)) {
      files.push_back(FileAt(word));
    } else {
      return Invalid(Format("{}: there is no such file or folder", Printable(word)));
    }
  }
  return files;
}

Result<std::string> PackTraceFile(const std::string& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Invalid("it cannot be read");
  auto packed = PackTrace(
      [&](std::span<char> into) {
        file.read(into.data(), static_cast<std::streamsize>(into.size()));
        return static_cast<std::size_t>(file.gcount());
      },
      most);
  if (file.bad()) return Invalid("it cannot be read");
  return packed;
}

}  // namespace stepscope
