#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stepscope {

// The fields of /proc/PID/stat, for a process or, below task/, a thread.
struct ProcessStat {
  std::string_view name;
  char state = '?';  // R runs, S sleeps, D waits for a disk, T and t are stopped, Z has ended
  std::int64_t parent = 0;
  std::uint64_t cpu_ticks = 0;  // in user and system mode
};

std::optional<ProcessStat> ParseProcessStat(std::string_view text);

// Whether it has ended: it is listed until its parent has asked how.
bool HasEnded(const ProcessStat& stat);

// The start time in the same text, in ticks since the machine's start: with the pid it identifies a
// process.
std::optional<std::uint64_t> ParseProcessStart(std::string_view text);

// The bytes in /proc/PID/io that were read from, and written to, a disk or a file server.
struct ProcessIo {
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
};

std::optional<ProcessIo> ParseProcessIo(std::string_view text);

// The first numbers of /proc/PID/statm, in pages.
struct ProcessMemory {
  std::uint64_t resident_pages = 0;
  std::uint64_t shared_pages = 0;
};

std::optional<ProcessMemory> ParseProcessMemory(std::string_view text);

// Adds the pids in /proc/PID/task/TID/children to `pids`.
void ParseChildren(std::string_view text, std::vector<std::int64_t>& pids);

// Whether `words`, a command line with NUL between and behind its words, is a data loader's of a
// process with the command line `parent`: a fork of it, or started by Python's multiprocessing.
bool IsLoaderCommand(std::string_view words, std::string_view parent);

}  // namespace stepscope
