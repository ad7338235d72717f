#include "agent/host/cgroup.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "agent/collect/paced_collector.h"
#include "agent/collect/scan.h"
#include "agent/collect/series.h"
#include "agent/collect/source.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// Version 2 sums up what each core of each group below counted to answer.
constexpr Duration kPeriod = 2s;
constexpr Duration kSeldomPeriod = 10s;  // of files in which nothing changes for most groups

enum Figure { kCpuTime, kPeriods, kThrottled, kMemory, kLimit, kOomKills };
constexpr std::size_t kFigures = kOomKills + 1;
using Rates = std::array<std::optional<double>, kFigures>;

// Where a figure stands: as the word behind `key`, or alone in its file.
struct Row {
  Figure figure;
  std::string_view controller, file, key;
};

// Of several rows for one figure the first whose file is there counts.
constexpr Row kRows[] = {
    {kCpuTime, "", "cpu.stat", "usage_usec"},
    {kPeriods, "", "cpu.stat", "nr_periods"},
    {kThrottled, "", "cpu.stat", "nr_throttled"},
    {kMemory, "", "memory.current", ""},
    {kLimit, "", "memory.max", ""},
    {kOomKills, "", "memory.events", "oom_kill"},
    {kCpuTime, "cpuacct", "cpuacct.usage", ""},
    {kPeriods, "cpu", "cpu.stat", "nr_periods"},
    {kThrottled, "cpu", "cpu.stat", "nr_throttled"},
    {kMemory, "memory", "memory.usage_in_bytes", ""},
    {kLimit, "memory", "memory.limit_in_bytes", ""},
    {kOomKills, "memory", "memory.oom_control", "oom_kill"},
};

// What version 1 says when there is none is near the largest number.
constexpr std::uint64_t kNoLimit = 1ull << 60;

// Read once for all that stands in it.
struct File {
  std::string path;
  Source source;
  std::vector<const Row*> rows{};
};

// Without what each job uses all the time.
bool IsSeldom(const File& file) {
  return std::ranges::none_of(
      file.rows, [](const Row* row) { return row->figure == kCpuTime || row->figure == kMemory; });
}

std::optional<std::uint64_t> NumberIn(std::string_view text, std::string_view key) {
  std::string_view line;
  while (TakeLine(text, line)) {
    if (key.empty() || TakeWord(line) == key) return TakeNumber(line);
  }
  return std::nullopt;
}

// The folders in which the files of a controller may lie. In a container the group's own path may
// not be visible, and the top is the group.
std::vector<std::string> FoldersOf(std::string_view memberships, std::string_view controller) {
  const auto group = ParseCgroup(memberships, controller);
  if (!group) return {};
  std::vector<std::string> folders;
  for (const std::string_view path : {*group, std::string_view("/")}) {
    if (!controller.empty()) {
      folders.push_back(Format("/sys/fs/cgroup/{}{}/", controller, path));
      continue;
    }
    folders.push_back(Format("/sys/fs/cgroup{}/", path));
    folders.push_back(Format("/sys/fs/cgroup/unified{}/", path));
  }
  return folders;
}

// Null where it is not there.
File* OpenFile(const std::string& root, const std::string& path, std::vector<File>& files) {
  const auto open = std::ranges::find(files, path, &File::path);
  if (open != files.end()) return &*open;
  auto source = Source::Open(root, path);
  return source ? &files.emplace_back(path, std::move(*source)) : nullptr;
}

// Says whether it is there.
bool AddRow(const std::string& root, const std::string& folder, const Row& row,
            std::vector<File>& files) {
  File* const file = OpenFile(root, folder + std::string(row.file), files);
  if (file == nullptr) return false;
  // The top of version 2 has a file without some of the words.
  const auto text = file->source.Read();
  if (row.figure != kLimit && !(text && NumberIn(*text, row.key))) return false;
  file->rows.push_back(&row);
  return true;
}

std::vector<File> OpenFiles(const std::string& root, std::string_view memberships) {
  std::vector<File> files;
  std::array<bool, kFigures> found{};
  for (const Row& row : kRows) {
    for (const std::string& folder : FoldersOf(memberships, row.controller)) {
      found[row.figure] = found[row.figure] || AddRow(root, folder, row, files);
    }
  }
  std::erase_if(files, [](const File& file) { return file.rows.empty(); });
  return files;
}

class CgroupCollector : public PacedCollector {
 public:
  explicit CgroupCollector(std::vector<File> files)
      : PacedCollector(kPeriod), files_(std::move(files)) {}

 private:
  Status Read(SteadyTime now, TickRow& row) override {
    Rates rates;
    const bool all = seldom_pace_.Due(now);
    for (File& file : files_) {
      if (!all && IsSeldom(file)) continue;
      const auto text = file.source.Read();
      if (!text) continue;
      for (const Row* from : file.rows) {
        const auto number = NumberIn(*text, from->key);
        if (number) Show(*from, *number, now, rates, row);
      }
    }
    const bool counted = rates[kPeriods] && rates[kThrottled] && *rates[kPeriods] > 0;
    if (!counted) return {};
    // The kernel adds to them one after the other, and a period may end in between.
    const double share = std::min(1.0, *rates[kThrottled] / *rates[kPeriods]);
    throttled_.Set(100 * share, row);
    return {};
  }

  void Show(const Row& from, std::uint64_t number, SteadyTime now, Rates& rates, TickRow& row) {
    const Figure figure = from.figure;
    if (figure <= kThrottled) rates[figure] = counters_[figure].Rate(number, now);
    const double unit = from.controller.empty() ? 1e-6 : 1e-9;  // of a second
    if (figure == kCpuTime && rates[figure]) cpu_.Set(100 * unit * *rates[figure], row);
    if (figure == kMemory) memory_.Set(static_cast<double>(number), row);
    if (figure == kLimit && number < kNoLimit) limit_.Set(static_cast<double>(number), row);
    if (figure == kOomKills) oom_kills_.Set(static_cast<double>(number), row);
  }

  std::vector<File> files_;
  Pace seldom_pace_{kSeldomPeriod};
  std::array<Counter, kFigures> counters_;
  GaugeSeries cpu_{"cgroup_cpu_percent"}, throttled_{"cgroup_throttled_percent"};
  GaugeSeries memory_{"cgroup_memory_bytes"}, limit_{"cgroup_memory_limit_bytes"};
  GaugeSeries oom_kills_{"cgroup_oom_kills"};
};

}  // namespace

std::optional<std::string_view> ParseCgroup(std::string_view text, std::string_view controller) {
  std::string_view line;
  while (TakeLine(text, line)) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? first : line.find(':', first + 1);
    if (second == line.npos) continue;
    const auto controllers = Split(line.substr(first + 1, second - first - 1), ',');
    if (!std::ranges::count(controllers, controller)) continue;
    const std::string_view path = line.substr(second + 1);
    return path == "/" ? "" : path;
  }
  return std::nullopt;
}

Result<std::unique_ptr<Collector>> MakeCgroupCollector(const std::string& root, TickRow&) {
  auto source = Source::Open(root, "/proc/self/cgroup");
  if (!source) return source.error();
  const auto memberships = source->Read();
  if (!memberships) return memberships.error();
  std::vector<File> files = OpenFiles(root, *memberships);
  if (files.empty()) return NotFound("/sys/fs/cgroup: no files of this process's control group");
  return std::unique_ptr<Collector>(std::make_unique<CgroupCollector>(std::move(files)));
}

}  // namespace stepscope
