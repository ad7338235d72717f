#include "agent/host/cgroup.h"

#include <algorithm>
#include <array>
#include <vector>

#include "agent/collect/paced_collector.h"
#include "agent/collect/scan.h"
#include "agent/collect/series.h"
#include "agent/host/cgroup_files.h"
#include "core/base/guarded.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// To answer, the kernel of version 2 sums up the counts of each core of each group below.
constexpr Duration kCgroupPeriod = 2s;
constexpr Duration kSeldomPeriod = 10s;  // for files that do not change for most groups
// Without a limit version 1 has a number near the largest one.
constexpr std::uint64_t kNoLimit = 1ull << 60;

// The series of one control group. When the group is replaced by another one, rates begin anew.
class Cgroup {
 public:
  void Open(std::vector<CgroupFile> files) {
    files_ = std::move(files);
    counters_ = {};
    seldom_pace_ = Pace(kSeldomPeriod);
  }

  void Read(SteadyTime now, TickRow& row) {
    std::array<std::optional<double>, kCgroupFigures> rates;
    std::uint64_t limit = kNoLimit;
    const bool all = seldom_pace_.Due(now);
    for (CgroupFile& file : files_) {
      if (!all && file.IsSeldom()) continue;
      const auto text = file.source.Read();
      if (!text) continue;
      for (const CgroupRow* from : file.rows) {
        const auto number = from->number(*text, from->key);
        if (!number) continue;
        if (from->figure == kCgroupLimit) {
          limit = std::min(limit, *number);  // the smallest limit of all groups counts
        } else {
          rates[from->figure] = Show(*from, *number, now, row);
        }
      }
    }
    if (limit < kNoLimit) limit_.Set(static_cast<double>(limit), row);
    const auto periods = rates[kCgroupPeriods], throttled = rates[kCgroupThrottled];
    if (!periods || !throttled || *periods <= 0) return;
    // The kernel updates the two counters one after the other, so a period may end in between.
    throttled_.Set(100 * std::min(1.0, *throttled / *periods), row);
  }

 private:
  // Returns the rate of a counter.
  std::optional<double> Show(const CgroupRow& from, std::uint64_t number, SteadyTime now,
                             TickRow& row) {
    const auto value = static_cast<double>(number);
    switch (from.figure) {
      case kCgroupMemory:
        memory_.Set(value, row);
        return std::nullopt;
      case kCgroupAnon:
        // The kernel's top group has this figure alone, of the whole machine.
        if (memory_.taken()) anon_.Set(value, row);
        return std::nullopt;
      case kCgroupOomKills:
        oom_kills_.Set(value, row);
        return std::nullopt;
      default:
        break;
    }
    const auto rate = counters_[from.figure].Rate(number, now);
    if (!rate) return rate;
    if (from.figure == kCgroupCpuTime) cpu_.Set(100 * from.unit * *rate, row);
    if (from.figure == kCgroupRead && (number > 0 || read_.taken())) read_.Set(*rate, row);
    if (from.figure == kCgroupWritten && (number > 0 || written_.taken())) written_.Set(*rate, row);
    return rate;
  }

  std::vector<CgroupFile> files_;
  Pace seldom_pace_{kSeldomPeriod};
  std::array<Counter, kCgroupFigures> counters_;
  GaugeSeries cpu_{"cgroup_cpu_percent"}, throttled_{"cgroup_throttled_percent"};
  GaugeSeries memory_{"cgroup_memory_bytes"}, anon_{"cgroup_memory_anon_bytes"};
  GaugeSeries limit_{"cgroup_memory_limit_bytes"};
  GaugeSeries oom_kills_{"cgroup_oom_kills"};
  GaugeSeries read_{"cgroup_read_bytes_per_second"}, written_{"cgroup_write_bytes_per_second"};
};

class OwnCgroup : public PacedCollector {
 public:
  explicit OwnCgroup(std::vector<CgroupFile> files) : PacedCollector(kCgroupPeriod) {
    group_.Open(std::move(files));
  }

 private:
  Status Read(SteadyTime now, TickRow& row) override {
    group_.Read(now, row);
    return {};
  }

  Cgroup group_;
};

class JobCgroup : public PacedCollector {
 public:
  JobCgroup(const std::string& root, ListTraining list)
      : PacedCollector(kCgroupPeriod), root_(root), list_(std::move(list)) {}

  std::string Shortfall() const override {
    return shortfall_.Read([](const std::string& reason) { return reason; });
  }

 private:
  Status Read(SteadyTime now, TickRow& row) override {
    list_(training_);
    std::erase_if(training_, [](const TrainingProcess& process) { return process.pid <= 0; });
    const auto still = [&](const TrainingProcess& process) { return process.pid == pid_; };
    if (!training_.empty() && std::ranges::none_of(training_, still)) {
      pid_ = training_[0].pid;
      std::string reason = Open();
      shortfall_.Change([&](std::string& shown) { shown = std::move(reason); });
    }
    group_.Read(now, row);
    return {};
  }

  // Opens the group's files; returns the reason why there are none.
  std::string Open() {
    group_.Open({});
    const std::string path = Format("/proc/{}/cgroup", pid_);
    auto source = Source::Open(root_, path);
    if (!source) return source.error().message;
    const auto memberships = source->Read();
    if (!memberships) return memberships.error().message;
    std::vector<CgroupFile> files = OpenCgroupFiles(root_, *memberships, CgroupTop::kIsAnother);
    if (files.empty()) return Format("/sys/fs/cgroup: not the group of {}", path);
    group_.Open(std::move(files));
    return "";
  }

  const std::string root_;
  const ListTraining list_;
  std::vector<TrainingProcess> training_;
  std::int64_t pid_ = 0;
  Cgroup group_;
  Guarded<std::string> shortfall_;
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
  std::vector<CgroupFile> files = OpenCgroupFiles(root, *memberships, CgroupTop::kCounts);
  if (files.empty()) return NotFound("/sys/fs/cgroup: no files of this process's control group");
  return std::unique_ptr<Collector>(std::make_unique<OwnCgroup>(std::move(files)));
}

std::unique_ptr<Collector> MakeJobCgroupCollector(const std::string& root, ListTraining list) {
  return std::make_unique<JobCgroup>(root, std::move(list));
}

}  // namespace stepscope
