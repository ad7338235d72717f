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

// The device of each training process, by pid.
using Training = std::map<std::int64_t, std::string>;

// The processes of one rank: the training process, and its descendants. Its series outlive a
// process: a rank may start again. For one thread.
class RankProcesses {
 public:
  explicit RankProcesses(const std::string& device);

  // Sets the training process; another one than before begins anew.
  void Follow(const std::string& root, std::int64_t pid);
  void Close();
  std::int64_t pid() const { return pid_; }

  // Reads the training thread: its use, and if wanted its state.
  void ReadThread(SteadyTime now, bool state, TickRow& row);

  // Reads all processes, and memory and state of the training process; with `io` their bytes, too.
  void ReadAll(SteadyTime now, bool io, TickRow& row);

  // Finds processes that were started since, until the rank has `room` of them; none of another
  // device in `training`. With `threads` also children of other threads than the first one. Returns
  // the number of processes for which there was no room.
  std::size_t Walk(bool threads, const Training& training, std::size_t room);
  // Adds the pids of all its processes.
  void PidsInto(std::vector<std::int64_t>& pids) const;
  // Shows the GPU memory of its processes; nothing where none of them holds any.
  void ShowGpuMemory(const std::vector<GpuProcess>& on_gpus, TickRow& row);
  void SetProportional(double bytes, TickRow& row) { proportional_.Set(bytes, row); }
  std::size_t size() const { return processes_.size(); }

 private:
  struct Thread {
    Source stat;
    Result<Source> run_time;  // ns in which it ran and waited; missing in some kernels
    Counter used, waited;
    std::optional<ThreadChildren> children;  // children of all threads
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
  std::vector<ProcessFiles> processes_;  // the training process first; empty when it has ended
  std::vector<std::int64_t> found_;

  GaugeSeries thread_cpu_, thread_waiting_, thread_blocked_, stopped_;
  GaugeSeries cpu_, loader_cpu_, loader_waiting_, loaders_, loaders_blocked_;
  GaugeSeries resident_, shared_, proportional_, read_, written_, gpu_memory_;
};

}  // namespace stepscope
