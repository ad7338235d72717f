#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/collect/gpu_values.h"
#include "agent/collect/series.h"
#include "agent/collect/source.h"
#include "agent/host/process_files.h"
#include "agent/host/thread_children.h"

namespace stepscope {

// The devices of training processes, by number of the process.
using Training = std::map<std::int64_t, std::string>;

// The processes of one rank: the one that trains, and all that it started. Its series last longer
// than a process: a rank may start again. For one thread.
class RankProcesses {
 public:
  explicit RankProcesses(const std::string& device);

  // The process that trains; another one than before begins anew.
  void Follow(const std::string& root, std::int64_t pid);
  void Close();
  std::int64_t pid() const { return pid_; }

  // The training thread: its use, and its state where that is asked for.
  void ReadThread(SteadyTime now, bool state, TickRow& row);

  // All processes, and the memory and state of the one that trains; with `io` their bytes, too.
  void ReadAll(SteadyTime now, bool io, TickRow& row);

  // Looks for processes that were started since, up to `room` of all of them; not those of another
  // device in `training`. With `threads` also for those that other threads than the first one
  // started. Says for how many there was no room.
  std::size_t Walk(bool threads, const Training& training, std::size_t room);
  // Adds the numbers of all of them.
  void PidsInto(std::vector<std::int64_t>& pids) const;
  // What its processes hold of all GPUs; nothing where none of them does.
  void ShowGpuMemory(const std::vector<GpuProcess>& on_gpus, TickRow& row);
  void SetProportional(double bytes, TickRow& row) { proportional_.Set(bytes, row); }
  std::size_t size() const { return processes_.size(); }

 private:
  struct Thread {
    Source stat;
    Result<Source> run_time;  // ns; some kernels do not have it
    Counter used;
    std::optional<ThreadChildren> children;  // of all threads of the process
  };

  void ShowState(char state, TickRow& row);
  void ReadMemory(TickRow& row);
  std::size_t Adopt(std::size_t parent, const Training& training, std::size_t room);

  const std::string device_;
  std::string root_;
  std::int64_t pid_ = 0;
  std::string command_;
  std::optional<Thread> thread_;
  std::optional<Source> memory_;
  std::vector<ProcessFiles> processes_;  // the first trains; empty when it has ended
  std::vector<std::int64_t> found_;

  GaugeSeries thread_cpu_, thread_blocked_, stopped_;
  GaugeSeries cpu_, loader_cpu_, loaders_, loaders_blocked_;
  GaugeSeries resident_, shared_, proportional_, read_, written_, gpu_memory_;
};

}  // namespace stepscope
