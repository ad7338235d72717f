#include "agent/app/commands/trace_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/text.h"
#include "core/wire/compress.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 10'000, kPieceBytes = 4 * 1024 * 1024;
constexpr std::string_view kEndings[] = {".json", ".json.gz", ".json.zst"};
constexpr std::string_view kPacked[] = {"\x1f\x8b", "\x28\xb5\x2f\xfd"};

bool LooksLikeTrace(const std::string& name) {
  return std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return name.ends_with(ending); });
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
                        LooksLikeTrace(entry->path().filename().string());
    if (wanted) files.push_back(FileAt(entry->path()));
    if (files.size() > kMostFiles) {
      return Invalid(Format("{}: more than {} trace files", Printable(folder), kMostFiles));
    }
  }
  if (files.empty()) {
    return Invalid(
        Format("{}: no file there ends in .json, .json.gz or .json.zst", Printable(folder)));
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

// Piece by piece: a file may be larger than memory, what is sent of it may not.
Result<std::string> PackTraceFile(const std::string& path, std::size_t most) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Invalid("it cannot be read");
  std::string packed, piece(kPieceBytes, '\0');
  bool as_it_is = false;
  for (bool first = true;; first = false) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const std::string_view got(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (got.empty()) break;
    if (first) {
      as_it_is = std::ranges::any_of(
          kPacked, [&](std::string_view magic) { return got.starts_with(magic); });
    }
    packed += as_it_is ? std::string(got) : Compress(got);
    if (packed.size() > most) {
      return Invalid(
          Format("packed it has more than {} MiB; record fewer steps at once", most / 1024 / 1024));
    }
  }
  if (file.bad()) return Invalid("it cannot be read");
  return packed;
}

}  // namespace stepscope
