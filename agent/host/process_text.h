#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stepscope {

// What /proc/PID/stat says, of a process or, below task/, of a thread.
struct ProcessStat {
  std::string_view name;
  char state = '?';  // R runs, S sleeps, D waits for a disk, T and t are stopped, Z has ended
  std::int64_t parent = 0;
  std::uint64_t cpu_ticks = 0;  // in user and system mode
};

std::optional<ProcessStat> ParseProcessStat(std::string_view text);

// One that has ended is listed until its parent has asked how.
bool HasEnded(const ProcessStat& stat);

// When it started, from the same text, in ticks since the machine did: with its number it is one
// process and no other.
std::optional<std::uint64_t> ParseProcessStart(std::string_view text);

// What /proc/PID/io says of bytes that came from, and go to, a disk or a file server.
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

// The numbers of /proc/PID/task/TID/children, added to `pids`.
void ParseChildren(std::string_view text, std::vector<std::int64_t>& pids);

// Whether `words`, a command line with NUL between and behind its words, is of a process that
// loads data for one with the command line `parent`: a fork of it, or started by Python's
// multiprocessing.
bool IsLoaderCommand(std::string_view words, std::string_view parent);

}  // namespace stepscope
