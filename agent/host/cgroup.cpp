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

enum Figure { kCpuTime, kPeriods, kThrottled, kMemory, kLimit, kOomKills };
constexpr std::size_t kFigures = kOomKills + 1;

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

struct File {
  const Row* row;
  Source source;
};

std::optional<std::uint64_t> NumberIn(File& file) {
  auto text = file.source.Read();
  if (!text) return std::nullopt;
  std::string_view line;
  while (TakeLine(*text, line)) {
    if (file.row->key.empty() || TakeWord(line) == file.row->key) return TakeNumber(line);
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

std::vector<File> OpenFiles(const std::string& root, std::string_view memberships) {
  std::vector<File> files;
  for (const Row& row : kRows) {
    const auto same = [&](const File& file) { return file.row->figure == row.figure; };
    for (const std::string& folder : FoldersOf(memberships, row.controller)) {
      if (std::ranges::any_of(files, same)) break;
      auto source = Source::Open(root, folder + std::string(row.file));
      if (!source) continue;
      File file{&row, std::move(*source)};
      // The top of version 2 has a file without some of the words.
      if (row.figure == kLimit || NumberIn(file)) files.push_back(std::move(file));
    }
  }
  return files;
}

class CgroupCollector : public PacedCollector {
 public:
  explicit CgroupCollector(std::vector<File> files)
      : PacedCollector(kPeriod), files_(std::move(files)) {}

 private:
  Status Read(SteadyTime now, TickRow& row) override {
    std::array<std::optional<double>, kFigures> rates;
    for (File& file : files_) {
      const Figure figure = file.row->figure;
      const auto number = NumberIn(file);
      if (!number) continue;
      if (figure <= kThrottled) rates[figure] = counters_[figure].Rate(*number, now);
      if (figure == kCpuTime) SetCpu(file, rates[kCpuTime], row);
      if (figure == kMemory) memory_.Set(static_cast<double>(*number), row);
      if (figure == kLimit && *number < kNoLimit) limit_.Set(static_cast<double>(*number), row);
      if (figure == kOomKills) oom_kills_.Set(static_cast<double>(*number), row);
    }
    const bool counted = rates[kPeriods] && rates[kThrottled] && *rates[kPeriods] > 0;
    if (!counted) return {};
    // They are read one after the other, and a period may end in between.
    const double share = std::min(1.0, *rates[kThrottled] / *rates[kPeriods]);
    throttled_.Set(100 * share, row);
    return {};
  }

  void SetCpu(const File& file, std::optional<double> rate, TickRow& row) {
    const double unit = file.row->controller.empty() ? 1e-6 : 1e-9;  // of a second
    if (rate) cpu_.Set(100 * unit * *rate, row);
  }

  std::vector<File> files_;
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
