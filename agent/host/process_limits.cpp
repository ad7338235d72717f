#include "agent/host/process_limits.h"

#include <dirent.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>

#include "agent/collect/scan.h"
#include "agent/collect/source.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostReadThreads = 256;  // of all processes
constexpr unsigned kMostCores = 8192;
constexpr std::uint64_t kNoMemoryLimit = 1ull << 60;  // version 1 has a number near the largest one
constexpr std::uint64_t kUsualPeriodUs = 100'000;

using Cores = std::set<unsigned>;

std::string TextBelow(const std::string& root, const std::string& path) {
  auto source = Source::Open(root, path);
  if (!source) return "";
  const auto text = source->Read();
  return text ? std::string(*text) : "";
}

// Parses "0-3,8"; ends at what is no list of cores.
Cores ParseCores(std::string_view text) {
  Cores cores;
  for (const std::string_view range : Split(Trim(text), ',')) {
    const std::size_t dash = range.find('-');
    const auto first = ParseInt(range.substr(0, dash), "core");
    const auto last = dash == range.npos ? first : ParseInt(range.substr(dash + 1), "core");
    if (!first || !last || *first < 0 || *last >= kMostCores) break;
    for (auto core = *first; core <= *last; ++core) cores.insert(static_cast<unsigned>(core));
  }
  return cores;
}

std::string_view WordsBehind(std::string_view text, std::string_view key) {
  std::string_view line;
  while (TakeLine(text, line)) {
    if (TakeWord(line) == key) return line;
  }
  return "";
}

// All threads count: OpenMP may bind the first one to a single core.
void AddCoresOf(const std::string& root, std::int64_t pid, std::size_t& room, Cores& cores) {
  const std::string folder = Format("/proc/{}/task", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> threads(opendir((root + folder).c_str()), closedir);
  while (const dirent* entry = threads && room > 0 ? readdir(threads.get()) : nullptr) {
    if (entry->d_name[0] == '.') continue;
    --room;
    const std::string status = TextBelow(root, Format("{}/{}/status", folder, entry->d_name));
    cores.merge(ParseCores(WordsBehind(status, "Cpus_allowed_list:")));
  }
}

// A thread that was never bound may list cores that the machine does not have.
Cores OnlineOf(const std::string& root, const Cores& allowed) {
  const Cores online = ParseCores(TextBelow(root, "/sys/devices/system/cpu/online"));
  if (online.empty()) return allowed;
  Cores both;
  std::ranges::set_intersection(allowed, online, std::inserter(both, both.end()));
  return both;
}

// The quota in cores of a file's group; nothing where it has none.
std::optional<double> QuotaIn(const std::string& root, const CgroupFile& file, const CgroupRow& row,
                              std::uint64_t number) {
  if (row.file != kQuotaOfVersion1) return row.unit * static_cast<double>(number);
  const std::string folder = file.path.substr(0, file.path.rfind('/') + 1);
  const std::string text = TextBelow(root, folder + std::string(kPeriodOfVersion1));
  std::string_view words = std::string_view(text).substr(0, text.find('\n'));
  const auto period = TakeNumber(words).value_or(kUsualPeriodUs);
  if (period == 0) return std::nullopt;
  return static_cast<double>(number) / static_cast<double>(period);
}

template <typename T>
void KeepSmaller(std::optional<T>& least, std::optional<T> other) {
  if (other && (!least || *other < *least)) least = other;
}

void ReadGroupLimits(const std::string& root, std::int64_t pid, CgroupTop top,
                     ProcessLimits& limits) {
  const std::string memberships = TextBelow(root, Format("/proc/{}/cgroup", pid));
  for (CgroupFile& file : OpenCgroupFiles(root, memberships, top, CgroupLimitRows())) {
    const auto text = file.source.Read();
    if (!text) continue;
    for (const CgroupRow* row : file.rows) {
      const auto number = row->number(*text, row->key);
      if (!number) continue;
      if (row->figure == kCgroupQuota) {
        KeepSmaller(limits.cpu_quota, QuotaIn(root, file, *row, *number));
      } else if (*number < kNoMemoryLimit) {
        KeepSmaller(limits.memory_bytes, number);
      }
    }
  }
}

}  // namespace

ProcessLimits ReadProcessLimits(const std::string& root, const std::vector<std::int64_t>& pids,
                                CgroupTop top) {
  ProcessLimits limits;
  Cores cores;
  std::size_t room = kMostReadThreads;
  for (const std::int64_t pid : pids) AddCoresOf(root, pid, room, cores);
  limits.cores = static_cast<unsigned>(OnlineOf(root, cores).size());
  if (!pids.empty()) ReadGroupLimits(root, pids.front(), top, limits);
  if (limits.cpu_quota && limits.cores > 0) {
    const double whole = std::max(1.0, std::ceil(*limits.cpu_quota));
    limits.cores = std::min(limits.cores, static_cast<unsigned>(std::min(whole, 1e6)));
  }
  return limits;
}

}  // namespace stepscope
