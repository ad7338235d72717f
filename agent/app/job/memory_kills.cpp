#include "agent/app/job/memory_kills.h"

#include <algorithm>
#include <string_view>

#include "agent/collect/scan.h"
#include "agent/collect/source.h"
#include "agent/host/cgroup_files.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

using Count = std::optional<std::uint64_t>;

// Without a limit version 1 has a number near the largest one.
constexpr std::uint64_t kLargestLimit = 1ull << 60;

std::uint64_t More(const Count& before, const Count& after) {
  return before && after && *after > *before ? *after - *before : 0;
}

std::string Processes(std::uint64_t count) {
  return Format("the kernel killed {} process{}", count, count == 1 ? "" : "es");
}

void ReadGroup(const std::string& root, MemoryKills& kills) {
  auto source = Source::Open(root, "/proc/self/cgroup");
  const auto memberships = source ? source->Read() : Result<std::string_view>(source.error());
  if (!memberships) return;
  for (CgroupFile& file : OpenCgroupFiles(root, std::string(*memberships), CgroupTop::kCounts)) {
    const auto text = file.source.Read();
    if (!text) continue;
    for (const CgroupRow* row : file.rows) {
      const auto number = row->number(*text, row->key);
      if (!number) continue;
      if (row->figure == kCgroupOomKills) kills.of_group = number;
      if (row->figure == kCgroupLimit && *number < kills.limit_bytes.value_or(kLargestLimit))
        kills.limit_bytes = number;
    }
  }
}

Count NodeKills(const std::string& root) {
  auto source = Source::Open(root, "/proc/vmstat");
  const auto text = source ? source->Read() : Result<std::string_view>(source.error());
  if (!text) return std::nullopt;
  std::string_view rest = *text, line;
  while (TakeLine(rest, line)) {
    if (TakeWord(line) != "oom_kill") continue;
    const auto number = TakeNumber(line);
    return number ? Count(*number) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

MemoryKills ReadMemoryKills(const std::string& root) {
  MemoryKills kills{.of_node = NodeKills(root)};
  ReadGroup(root, kills);
  return kills;
}

std::string KilledBetween(const MemoryKills& before, const MemoryKills& after) {
  if (const auto count = More(before.of_group, after.of_group); count > 0) {
    const std::string killed = Processes(count) + " of its control group for want of memory";
    if (!after.limit_bytes) return killed;
    const double gib = static_cast<double>(*after.limit_bytes) / (1 << 30);
    return Format("{}; the group's limit is {:.3g} GiB", killed, gib);
  }
  const auto count = More(before.of_node, after.of_node);
  return count > 0 ? Processes(count) + " of the node for want of memory meanwhile" : "";
}

}  // namespace stepscope
