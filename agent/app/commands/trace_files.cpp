#include "agent/app/commands/trace_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "agent/traces/pack_trace.h"
#include "core/base/nameless_file.h"
#include "core/base/text.h"
#include "core/wire/compress.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 10'000;
constexpr std::size_t kPieceBytes = 4 * 1024 * 1024;
constexpr std::string_view kEndings[] = {".json", ".json.gz", ".json.zst", ".xplane.pb"};

bool LooksLikeTrace(const std::string& name) {
  return std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

bool HasFile(const fs::path& folder, std::string_view ending) {
  std::error_code failed;
  const fs::directory_iterator files(folder, failed);
  return !failed && std::ranges::any_of(files, [&](const fs::directory_entry& file) {
    std::error_code unknown;
    return file.path().string().ends_with(ending) && file.is_regular_file(unknown);
  });
}

// TensorFlow and JAX write up to three forms of a profile side by side, and other files that are no
// traces.
std::string WhyLeftOut(const fs::path& path) {
  constexpr std::string_view kJson = ".trace.json.gz", kXPlane = ".xplane.pb";
  const std::string name = path.filename().string();
  if (name.ends_with(".memory_profile.json.gz")) return "a profile of memory, and no trace";
  std::error_code failed;
  if (name.ends_with(kJson)) {
    const auto stem = name.substr(0, name.size() - kJson.size());
    const auto other = path.parent_path() / (stem + std::string(kXPlane));
    if (fs::is_regular_file(other, failed)) return "the .xplane.pb beside it has the same and more";
  }
  if (name == "perfetto_trace.json.gz") {
    for (const std::string_view first : {kXPlane, kJson}) {
      if (HasFile(path.parent_path(), first)) return Format("the {} beside it has the same", first);
    }
  }
  return "";
}

TraceFile FileAt(const fs::path& path) {
  std::error_code failed;
  const auto bytes = fs::file_size(path, failed);
  return {path.string(), path.filename().string(), failed ? 0 : bytes, ""};
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
    if (wanted) {
      files.push_back(FileAt(entry->path()));
      files.back().left_out = WhyLeftOut(entry->path());
    }
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

Status Append(std::string_view bytes, PackedTrace& to) {
  const Status written = WriteAllAt(to.file, bytes, to.bytes);
  if (!written)
    return Invalid(Format("it cannot be packed: {}; set TMPDIR", written.error().message));
  to.bytes += bytes.size();
  return {};
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

Result<PackedTrace> PackTraceFile(const std::string& path, std::uint64_t most) {
  PackedTrace packed{Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC)), 0};
  struct stat about {};
  if (!packed.file || fstat(packed.file.get(), &about) != 0) return Invalid("it cannot be read");
  std::string piece(kPieceBytes, '\0');
  const auto read = [&](std::uint64_t at) {
    const ssize_t got = pread(packed.file.get(), piece.data(), piece.size(), off_t(at));
    return got < 0 ? Result<std::string_view>(Invalid("it cannot be read"))
                   : std::string_view(piece.data(), std::size_t(got));
  };
  auto got = read(0);
  if (!got) return got.error();
  const std::string fault = Format("packed it has more than {} MiB", most / 1024 / 1024);
  if (IsPackedTrace(*got)) {
    packed.bytes = std::uint64_t(about.st_size);
    return packed.bytes <= most ? Result(std::move(packed)) : Invalid(fault);
  }
  std::error_code no_folder;
  PackedTrace made{OpenNamelessFile(fs::temp_directory_path(no_folder).string()), 0};
  if (!made.file) return Invalid("there is no folder for a temporary file; set TMPDIR");
  for (std::uint64_t at = 0; !got->empty();) {
    at += got->size();
    if (Status written = Append(Compress(*got), made); !written) return written.error();
    if (made.bytes > most) return Invalid(fault);
    if (got = read(at); !got) return got.error();
  }
  return made;
}

}  // namespace stepscope
