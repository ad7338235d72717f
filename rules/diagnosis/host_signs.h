#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "rules/diagnosis/causes.h"
#include "rules/diagnosis/host_sums.h"
#include "rules/engine/rule.h"

namespace stepscope {

// What is reported less often than each tick, as it was last.
struct HostSeldom {
  double link = 0;         // bytes a second of the fastest interface
  double process_cpu = 0;  // CPU of the training process that uses most, without its loaders, in %

  template <typename State>
  void Fields(State& state) {
    state("link", link);
    state("process_cpu", process_cpu);
  }
};

// The signs of a host that explain why its GPUs idle. Columns are looked up once for a view, which
// outlives this.
class HostSigns {
 public:
  static std::span<const std::string_view> Metrics();

  // Threads that launch cannot keep up when they use more than this much of a core together: the
  // main thread alone, or with that of autograd, which runs the backward pass on CUDA.
  static constexpr double kBusyThread = 90;

  explicit HostSigns(const TickView& ticks);

  const std::vector<const Column*>& gpus() const { return of_[0]; }
  // The first of these causes that holds in a tick: input at its limit, output, threads that launch
  // and cannot keep up, a busy core; else kUnderUse when some GPU worked.
  Cause Shown(std::size_t row, HostSeldom& seldom, double busy_thread = kBusyThread) const;
  // Whether the row has a sample of some training thread.
  bool HasThread(std::size_t row) const;
  // Adds the row's samples to the means.
  void AddMeans(std::size_t row, HostSums& sums) const;

 private:
  struct Process {
    const Column *cpu, *loaders;  // `loaders` is part of `cpu`; null where it is not known
  };
  void PairLoaders(const TickView& ticks);
  double Highest(std::size_t metric, std::size_t row) const;
  void KeepSeldom(std::size_t row, HostSeldom& seldom) const;

  static constexpr std::size_t kMetrics = 19;
  std::array<std::vector<const Column*>, kMetrics> of_;
  std::vector<Process> processes_;
};

}  // namespace stepscope
