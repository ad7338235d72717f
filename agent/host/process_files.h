#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/collect/counter.h"
#include "agent/collect/source.h"
#include "agent/host/process_text.h"

namespace stepscope {

// The use of one process since the previous reading; nothing at the first one.
struct ProcessUse {
  char state = '?';
  bool loader = false;  // loads data for another process
  std::optional<double> cpu_percent{};
  std::optional<double> waiting_percent{};  // for a core, of a loader
  std::optional<double> read_bytes_per_second{}, write_bytes_per_second{};
};

// One process, its files kept open: they stay this process's even when its pid is reused. For one
// thread.
class ProcessFiles {
 public:
  // Nothing when the process has ended, or is not the child of `parent` (0: any parent).
  static std::optional<ProcessFiles> Open(const std::string& root, std::int64_t pid,
                                          std::int64_t parent = 0);

  // Nothing when the process has ended. `command` is the command line of the process that it may
  // load data for. Bytes are missing unless `io` is true.
  std::optional<ProcessUse> Read(SteadyTime now, std::string_view command, bool io);

  // Adds the children of its first thread.
  void ChildrenInto(std::vector<std::int64_t>& pids);

  std::int64_t pid() const { return pid_; }

 private:
  ProcessFiles(const std::string& root, std::int64_t pid, Source stat);
  bool IsLoader(const ProcessStat& stat, std::string_view command);
  void ReadWaiting(SteadyTime now, ProcessUse& use);
  void ReadIo(SteadyTime now, ProcessUse& use);

  std::string root_;
  std::int64_t pid_;
  Source stat_;
  Result<Source> io_, children_;            // io: never read if the process does not permit it
  std::optional<Result<Source>> run_time_;  // a loader's
  Counter cpu_ticks_, waited_, read_bytes_, write_bytes_;
  int readings_ = 0;
  bool loader_ = false;
};

// Reads the file; nothing where it is missing or can no longer be read: it is not tried again.
std::optional<std::string_view> TextOf(Result<Source>& source);

// The pids of all visible processes, in order.
std::vector<std::int64_t> Pids(const std::string& root);

// The folder of a process: "/proc/42/".
std::string ProcessFolder(std::int64_t pid);

// The command line, with NUL behind each word; "" when the process has ended.
std::string ProcessCommand(const std::string& root, std::int64_t pid);

// Nothing when the process has ended.
std::optional<std::uint64_t> ResidentBytes(const std::string& root, std::int64_t pid);

// The percentage that a nanosecond of a second is.
inline constexpr double kPercentOfNanos = 1e-7;

// The percentage of a core that one tick of CPU time a second is.
double PercentPerTick();

}  // namespace stepscope
