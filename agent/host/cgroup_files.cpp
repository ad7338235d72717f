#include "agent/host/cgroup_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "agent/collect/scan.h"
#include "agent/host/cgroup.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// Alone in its file, or behind the word `key`.
std::optional<std::uint64_t> NumberIn(std::string_view text, std::string_view key) {
  std::string_view line;
  while (TakeLine(text, line)) {
    if (key.empty() || TakeWord(line) == key) return TakeNumber(line);
  }
  return std::nullopt;
}

// Version 2, a line for each device: "8:0 rbytes=4096 wbytes=0 rios=1". A group that has read
// nothing yet has no lines.
std::optional<std::uint64_t> SumOfPairs(std::string_view text, std::string_view key) {
  std::uint64_t sum = 0;
  std::string_view line;
  while (TakeLine(text, line)) {
    for (auto word = TakeWord(line); !word.empty(); word = TakeWord(line)) {
      if (!word.starts_with(key)) continue;
      word.remove_prefix(key.size());
      sum += TakeNumber(word).value_or(0);
    }
  }
  return sum;
}

// Version 1: "8:0 Read 4096"; at the end "Total 4096".
std::optional<std::uint64_t> SumOfLines(std::string_view text, std::string_view key) {
  std::uint64_t sum = 0;
  std::string_view line;
  while (TakeLine(text, line)) {
    TakeWord(line);
    if (TakeWord(line) == key) sum += TakeNumber(line).value_or(0);
  }
  return sum;
}

// Of several rows for one figure the first whose file is there counts.
constexpr CgroupRow kRows[] = {
    {kCgroupCpuTime, 1e-6, "", "cpu.stat", "usage_usec", NumberIn},
    {kCgroupPeriods, 1, "", "cpu.stat", "nr_periods", NumberIn},
    {kCgroupThrottled, 1, "", "cpu.stat", "nr_throttled", NumberIn},
    {kCgroupRead, 1, "", "io.stat", "rbytes=", SumOfPairs},
    {kCgroupWritten, 1, "", "io.stat", "wbytes=", SumOfPairs},
    {kCgroupMemory, 1, "", "memory.current", "", NumberIn},
    {kCgroupLimit, 1, "", "memory.max", "", NumberIn},
    {kCgroupOomKills, 1, "", "memory.events", "oom_kill", NumberIn},
    {kCgroupCpuTime, 1e-9, "cpuacct", "cpuacct.usage", "", NumberIn},
    {kCgroupPeriods, 1, "cpu", "cpu.stat", "nr_periods", NumberIn},
    {kCgroupThrottled, 1, "cpu", "cpu.stat", "nr_throttled", NumberIn},
    {kCgroupRead, 1, "blkio", "blkio.throttle.io_service_bytes", "Read", SumOfLines},
    {kCgroupWritten, 1, "blkio", "blkio.throttle.io_service_bytes", "Write", SumOfLines},
    {kCgroupMemory, 1, "memory", "memory.usage_in_bytes", "", NumberIn},
    {kCgroupLimit, 1, "memory", "memory.limit_in_bytes", "", NumberIn},
    {kCgroupOomKills, 1, "memory", "memory.oom_control", "oom_kill", NumberIn},
};

bool IsFrequent(CgroupFigure figure) {
  return figure == kCgroupCpuTime || figure == kCgroupMemory || figure == kCgroupRead ||
         figure == kCgroupWritten;
}

// The folders in which the files of a controller may lie.
std::vector<std::string> FoldersOf(const std::string& root, std::string_view memberships,
                                   std::string_view controller, CgroupTop top) {
  const auto group = ParseCgroup(memberships, controller);
  if (!group) return {};
  std::vector<std::string> folders;
  const auto add = [&](std::string_view path) {
    const std::vector<std::string_view> hierarchies =
        controller.empty() ? std::vector<std::string_view>{"", "/unified"}
                           : std::vector<std::string_view>{controller};
    for (const std::string_view hierarchy : hierarchies) {
      const std::string_view slash = hierarchy.empty() || hierarchy.starts_with('/') ? "" : "/";
      std::string folder = Format("/sys/fs/cgroup{}{}{}/", slash, hierarchy, path);
      if (access((root + folder).c_str(), F_OK) == 0) folders.push_back(std::move(folder));
    }
  };
  // Above the top of what this process sees, which it does not know the way to.
  const bool beyond = group->starts_with("/..");
  if (!beyond) add(*group);
  if (folders.empty() && top == CgroupTop::kCounts) add("");
  return folders;
}

// Null where it is not there.
CgroupFile* OpenFile(const std::string& root, const std::string& path,
                     std::vector<CgroupFile>& files) {
  const auto open = std::ranges::find(files, path, &CgroupFile::path);
  if (open != files.end()) return &*open;
  auto source = Source::Open(root, path);
  return source ? &files.emplace_back(path, std::move(*source)) : nullptr;
}

// Says whether it is there.
bool AddRow(const std::string& root, const std::string& folder, const CgroupRow& row,
            std::vector<CgroupFile>& files) {
  CgroupFile* const file = OpenFile(root, folder + std::string(row.file), files);
  if (file == nullptr) return false;
  // The top of version 2 has a file without some of the words.
  const auto text = file->source.Read();
  if (row.figure != kCgroupLimit && !(text && row.number(*text, row.key))) return false;
  file->rows.push_back(&row);
  return true;
}

}  // namespace

bool CgroupFile::IsSeldom() const {
  return std::ranges::none_of(rows, [](const auto* row) { return IsFrequent(row->figure); });
}

std::vector<CgroupFile> OpenCgroupFiles(const std::string& root, std::string_view memberships,
                                        CgroupTop top) {
  std::vector<CgroupFile> files;
  std::array<bool, kCgroupFigures> found{};
  for (const CgroupRow& row : kRows) {
    for (const std::string& folder : FoldersOf(root, memberships, row.controller, top)) {
      found[row.figure] = found[row.figure] || AddRow(root, folder, row, files);
    }
  }
  std::erase_if(files, [](const CgroupFile& file) { return file.rows.empty(); });
  return files;
}

}  // namespace stepscope
