#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/collect/source.h"

namespace stepscope {

// The figures of a control group.
enum CgroupFigure {
  kCgroupCpuTime,
  kCgroupPeriods,
  kCgroupThrottled,
  kCgroupRead,
  kCgroupWritten,
  kCgroupMemory,
  kCgroupAnon,
  kCgroupLimit,
  kCgroupOomKills,
  kCgroupQuota  // CPU time in a thousandth of a core
};
inline constexpr std::size_t kCgroupFigures = kCgroupQuota + 1;

// The file of version 1 with a quota in microseconds; the period stands in kPeriodOfVersion1.
inline constexpr std::string_view kQuotaOfVersion1 = "cpu.cfs_quota_us";
inline constexpr std::string_view kPeriodOfVersion1 = "cpu.cfs_period_us";

// Groups are nested: which of a process's groups count for a figure.
enum class CgroupLevel {
  // Under Slurm the job's group, which has one for each step and task below it; else kOwn.
  kJob,
  kOwn,
  kQuota,  // the group, from its own to the top, with the smallest quota of CPU time; else its own
  kAll     // every group from its own to the top
};

// Where to find a figure.
struct CgroupRow {
  CgroupFigure figure;
  CgroupLevel level;
  double unit;  // value of 1 in the file
  std::string_view controller, file, key;
  // Parses the text; nothing where the figure is missing.
  std::optional<std::uint64_t> (*number)(std::string_view text, std::string_view key);
};

// A file, read once for all its figures.
struct CgroupFile {
  std::string path;
  Source source;
  std::vector<const CgroupRow*> rows{};

  // Whether no figure of the file changes all the time.
  bool IsSeldom() const;
};

// Whether the top that this process sees stands for a group whose own path leads nowhere, as in a
// container.
enum class CgroupTop { kCounts, kIsAnother };

// The figures that have series, and those that are limits.
std::span<const CgroupRow> CgroupSeriesRows();
std::span<const CgroupRow> CgroupLimitRows();

// Opens the files of a process's group that have figures of `rows`; `memberships` is its
// /proc/PID/cgroup. Versions 1 and 2 of the kernel's interface, and both at once.
std::vector<CgroupFile> OpenCgroupFiles(const std::string& root, std::string_view memberships,
                                        CgroupTop top,
                                        std::span<const CgroupRow> rows = CgroupSeriesRows());

}  // namespace stepscope
