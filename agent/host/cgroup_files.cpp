#include "agent/host/cgroup_files.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>

#include "agent/collect/scan.h"
#include "agent/host/cgroup.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// The number in the text, or behind the word `key` in it.
std::optional<std::uint64_t> NumberIn(std::string_view text, std::string_view key) {
  std::string_view line;
  while (TakeLine(text, line)) {
    if (key.empty() || TakeWord(line) == key) return TakeNumber(line);
  }
  return std::nullopt;
}

// Memory that the kernel cannot take back without swapping: what is in no file, and in those of a
// tmpfs such as /dev/shm, which it counts with the cached files. Older kernels lack the second.
std::optional<std::uint64_t> HeldIn(std::string_view text, std::string_view keys) {
  const auto anonymous = NumberIn(text, TakeWord(keys));
  if (!anonymous) return std::nullopt;
  return *anonymous + NumberIn(text, TakeWord(keys)).value_or(0);
}

// The sum over a file of version 2 with a line for each device: "8:0 rbytes=4096 wbytes=0 rios=1".
// A group that has read nothing yet has no lines.
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

// The sum over a file of version 1: "8:0 Read 4096"; at the end "Total 4096".
std::optional<std::uint64_t> SumOfLines(std::string_view text, std::string_view key) {
  std::uint64_t sum = 0;
  std::string_view line;
  while (TakeLine(text, line)) {
    TakeWord(line);
    if (TakeWord(line) == key) sum += TakeNumber(line).value_or(0);
  }
  return sum;
}

// The quota of version 2, "150000 100000": so many microseconds in each period; "max" where there
// is none.
std::optional<std::uint64_t> MillisOfQuota(std::string_view text, std::string_view) {
  std::string_view line;
  TakeLine(text, line);
  const auto quota = TakeNumber(line), period = TakeNumber(line);
  if (!quota || !period || *period == 0) return std::nullopt;
  return *quota * 1000 / *period;
}

constexpr std::string_view kQuotaOfVersion2 = "cpu.max";
constexpr std::string_view kMemoryMax = "memory.max";  // "max" where there is none

using enum CgroupLevel;

// If several rows have one figure, the first whose file exists counts; all limits of version 2
// count. Figures that version 1 does not sum up over the groups below are the process's own. CPU
// time of version 1 goes first: beside it every group of version 2 has a cpu.stat, though the
// process is in the top one, which is the whole machine.
constexpr CgroupRow kRows[] = {
    {kCgroupCpuTime, kJob, 1e-9, "cpuacct", "cpuacct.usage", "", NumberIn},
    {kCgroupCpuTime, kJob, 1e-6, "", "cpu.stat", "usage_usec", NumberIn},
    {kCgroupPeriods, kQuota, 1, "", "cpu.stat", "nr_periods", NumberIn},
    {kCgroupThrottled, kQuota, 1, "", "cpu.stat", "nr_throttled", NumberIn},
    {kCgroupRead, kJob, 1, "", "io.stat", "rbytes=", SumOfPairs},
    {kCgroupWritten, kJob, 1, "", "io.stat", "wbytes=", SumOfPairs},
    {kCgroupMemory, kJob, 1, "", "memory.current", "", NumberIn},
    {kCgroupAnon, kJob, 1, "", "memory.stat", "anon shmem", HeldIn},
    {kCgroupLimit, kAll, 1, "", kMemoryMax, "", NumberIn},
    {kCgroupOomKills, kJob, 1, "", "memory.events", "oom_kill", NumberIn},
    {kCgroupPeriods, kQuota, 1, "cpu", "cpu.stat", "nr_periods", NumberIn},
    {kCgroupThrottled, kQuota, 1, "cpu", "cpu.stat", "nr_throttled", NumberIn},
    {kCgroupRead, kOwn, 1, "blkio", "blkio.throttle.io_service_bytes", "Read", SumOfLines},
    {kCgroupWritten, kOwn, 1, "blkio", "blkio.throttle.io_service_bytes", "Write", SumOfLines},
    {kCgroupMemory, kJob, 1, "memory", "memory.usage_in_bytes", "", NumberIn},
    {kCgroupAnon, kJob, 1, "memory", "memory.stat", "total_rss total_shmem", HeldIn},
    {kCgroupLimit, kOwn, 1, "memory", "memory.stat", "hierarchical_memory_limit", NumberIn},
    {kCgroupLimit, kOwn, 1, "memory", "memory.limit_in_bytes", "", NumberIn},
    {kCgroupOomKills, kOwn, 1, "memory", "memory.oom_control", "oom_kill", NumberIn},
};

// The quota of version 1 is in two files: this one's number is in microseconds.
constexpr CgroupRow kLimitRows[] = {
    {kCgroupQuota, kAll, 1e-3, "", kQuotaOfVersion2, "", MillisOfQuota},
    {kCgroupQuota, kAll, 1e-3, "cpu", kQuotaOfVersion1, "", NumberIn},
    {kCgroupLimit, kAll, 1, "", kMemoryMax, "", NumberIn},
    {kCgroupLimit, kOwn, 1, "memory", "memory.stat", "hierarchical_memory_limit", NumberIn},
    {kCgroupLimit, kOwn, 1, "memory", "memory.limit_in_bytes", "", NumberIn},
};

bool IsFrequent(CgroupFigure figure) {
  return figure == kCgroupCpuTime || figure == kCgroupPeriods || figure == kCgroupMemory ||
         figure == kCgroupAnon || figure == kCgroupRead || figure == kCgroupWritten;
}

// The path of the Slurm job: "/slurm/job_7" for "/slurm/job_7/step_0/user/task_0"; any other path
// as it is.
std::string_view JobOf(std::string_view path) {
  constexpr std::string_view kWord = "/job_";
  const std::size_t word = path.find(kWord);
  if (word == path.npos) return path;
  const std::size_t digits = word + kWord.size();
  const std::size_t end = std::min(path.find('/', digits), path.size());
  const auto is_digit = [](char one) { return one >= '0' && one <= '9'; };
  const std::string_view number = path.substr(digits, end - digits);
  return !number.empty() && std::ranges::all_of(number, is_digit) ? path.substr(0, end) : path;
}

// The groups of a process that count, preferred first: the job's file may not exist.
std::vector<std::string_view> GroupsOf(std::string_view own, CgroupLevel level) {
  if (level == kJob && JobOf(own) != own) return {JobOf(own), own};
  std::vector<std::string_view> groups = {own};
  while ((level == kAll || level == kQuota) && !groups.back().empty())
    groups.push_back(groups.back().substr(0, groups.back().rfind('/')));
  return groups;
}

std::string TextIn(const std::string& folder, std::string_view file) {
  auto source = Source::Open(folder, std::string(file));
  if (!source) return "";
  const auto text = source->Read();
  return text ? std::string(*text) : "";
}

// The quota of a group's folder in thousandths of a core; the largest number where it has none.
std::uint64_t QuotaOf(const std::string& folder) {
  constexpr auto kNone = std::numeric_limits<std::uint64_t>::max();
  if (const auto millis = MillisOfQuota(TextIn(folder, kQuotaOfVersion2), "")) return *millis;
  const auto quota = NumberIn(TextIn(folder, kQuotaOfVersion1), "");
  const auto period = NumberIn(TextIn(folder, kPeriodOfVersion1), "");
  return quota && period && *period > 0 ? *quota * 1000 / *period : kNone;
}

// The folders in which the file of a row may lie.
std::vector<std::string> FoldersOf(const std::string& root, std::string_view memberships,
                                   const CgroupRow& row, CgroupTop top) {
  const auto group = ParseCgroup(memberships, row.controller);
  if (!group) return {};
  std::vector<std::string> folders;
  const auto add = [&](std::string_view own) {
    const std::vector<std::string_view> hierarchies =
        row.controller.empty() ? std::vector<std::string_view>{"", "/unified"}
                               : std::vector<std::string_view>{row.controller};
    for (const std::string_view hierarchy : hierarchies) {
      const std::string_view slash = hierarchy.empty() || hierarchy.starts_with('/') ? "" : "/";
      const std::string above = Format("/sys/fs/cgroup{}{}", slash, hierarchy);
      if (access(Format("{}{}{}/", root, above, own).c_str(), F_OK) != 0) continue;
      for (const std::string_view one : GroupsOf(own, row.level))
        folders.push_back(Format("{}{}/", above, one));
    }
  };
  // The path leads above the top that this process sees, where it cannot follow.
  const bool beyond = group->starts_with("/..");
  if (!beyond) add(*group);
  if (folders.empty() && top == CgroupTop::kCounts) add("");
  // The kernel counts throttled periods where the quota is.
  if (row.level == kQuota) {
    std::ranges::stable_sort(folders, {},
                             [&](const std::string& folder) { return QuotaOf(root + folder); });
  }
  return folders;
}

// Null where there is no such file.
CgroupFile* OpenFile(const std::string& root, const std::string& path,
                     std::vector<CgroupFile>& files) {
  const auto open = std::ranges::find(files, path, &CgroupFile::path);
  if (open != files.end()) return &*open;
  auto source = Source::Open(root, path);
  return source ? &files.emplace_back(path, std::move(*source)) : nullptr;
}

// Adds the row's file; false where it does not exist.
bool AddRow(const std::string& root, const std::string& folder, const CgroupRow& row,
            std::vector<CgroupFile>& files) {
  CgroupFile* const file = OpenFile(root, folder + std::string(row.file), files);
  if (file == nullptr) return false;
  // The file of version 2's top group lacks some of the words; a limit may be set later.
  const auto text = file->source.Read();
  if (row.file != kMemoryMax && !(text && row.number(*text, row.key))) return false;
  file->rows.push_back(&row);
  return true;
}

}  // namespace

bool CgroupFile::IsSeldom() const {
  return std::ranges::none_of(rows, [](const auto* row) { return IsFrequent(row->figure); });
}

std::span<const CgroupRow> CgroupSeriesRows() {
  return kRows;
}

std::span<const CgroupRow> CgroupLimitRows() {
  return kLimitRows;
}

std::vector<CgroupFile> OpenCgroupFiles(const std::string& root, std::string_view memberships,
                                        CgroupTop top, std::span<const CgroupRow> rows) {
  std::vector<CgroupFile> files;
  std::array<bool, kCgroupFigures> found{};
  for (const CgroupRow& row : rows) {
    for (const std::string& folder : FoldersOf(root, memberships, row, top)) {
      if (found[row.figure] && row.level != kAll) break;
      found[row.figure] = AddRow(root, folder, row, files) || found[row.figure];
    }
  }
  std::erase_if(files, [](const CgroupFile& file) { return file.rows.empty(); });
  return files;
}

}  // namespace stepscope
