#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/collect/counter.h"
#include "agent/collect/source.h"
#include "agent/host/process_text.h"

namespace stepscope {

// What one process did since the reading before; nothing at the first one.
struct ProcessUse {
  char state = '?';
  bool loader = false;  // it loads data for another one
  std::optional<double> cpu_percent{};
  std::optional<double> read_bytes_per_second{}, write_bytes_per_second{};
};

// One process, its files kept open: so they are of this process even when its number is given to
// another one. For one thread.
class ProcessFiles {
 public:
  // Nothing when it has ended, or is not the child of `parent` (0: whoever's).
  static std::optional<ProcessFiles> Open(const std::string& root, std::int64_t pid,
                                          std::int64_t parent = 0);

  // Nothing when it has ended. `command` is that of the process it may work for. Bytes are missing
  // where `io` is not asked for.
  std::optional<ProcessUse> Read(SteadyTime now, std::string_view command, bool io);

  // Adds the children of its first thread.
  void ChildrenInto(std::vector<std::int64_t>& pids);

  std::int64_t pid() const { return pid_; }

 private:
  ProcessFiles(const std::string& root, std::int64_t pid, Source stat);
  bool IsLoader(const ProcessStat& stat, std::string_view command);
  void ReadIo(SteadyTime now, ProcessUse& use);

  std::string root_;
  std::int64_t pid_;
  Source stat_;
  Result<Source> io_, children_;  // io: of a process that may not be looked into, never read
  Counter cpu_ticks_, read_bytes_, write_bytes_;
  int readings_ = 0;
  bool loader_ = false;
};

// Nothing where the file is not there, or can no longer be read: one that failed is not read again.
std::optional<std::string_view> TextOf(Result<Source>& source);

// Of all processes that this one can see, in order.
std::vector<std::int64_t> Pids(const std::string& root);

// "/proc/42/"
std::string ProcessFolder(std::int64_t pid);

// With NUL behind each word; "" when it has ended.
std::string ProcessCommand(const std::string& root, std::int64_t pid);

// Nothing when it has ended.
std::optional<std::uint64_t> ResidentBytes(const std::string& root, std::int64_t pid);

// Percent of one core for each tick of CPU time a second.
double PercentPerTick();

}  // namespace stepscope
