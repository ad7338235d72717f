#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/collect/source.h"

namespace stepscope {

// What is read of a control group.
enum CgroupFigure {
  kCgroupCpuTime,
  kCgroupPeriods,
  kCgroupThrottled,
  kCgroupRead,
  kCgroupWritten,
  kCgroupMemory,
  kCgroupLimit,
  kCgroupOomKills
};
inline constexpr std::size_t kCgroupFigures = kCgroupOomKills + 1;

// Which groups of those that a process is in, one inside the other, count for a figure.
enum class CgroupLevel {
  kJob,  // of Slurm the group of the job, which has one for each step and task below it; else its
         // own
  kOwn,
  kAll  // each of them, from its own to the top
};

// Where a figure stands.
struct CgroupRow {
  CgroupFigure figure;
  CgroupLevel level;
  double unit;  // what 1 in the file stands for
  std::string_view controller, file, key;
  // Nothing where the text does not have it.
  std::optional<std::uint64_t> (*number)(std::string_view text, std::string_view key);
};

// Read once for all that stands in it.
struct CgroupFile {
  std::string path;
  Source source;
  std::vector<const CgroupRow*> rows{};

  // Without what each job uses all the time.
  bool IsSeldom() const;
};

// Whether the top of what this process sees is the group where its own path leads nowhere, as in a
// container.
enum class CgroupTop { kCounts, kIsAnother };

// The files of the group of a process; `memberships` is its /proc/PID/cgroup. Versions 1 and 2 of
// the kernel's interface, and both at once.
std::vector<CgroupFile> OpenCgroupFiles(const std::string& root, std::string_view memberships,
                                        CgroupTop top);

}  // namespace stepscope
