#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/frames/job_tick_row.h"
#include "agent/launch/launcher.h"
#include "agent/launch/rank_gpus.h"
#include "agent/marks/intake.h"
#include "agent/sample/sampler.h"
#include "core/base/guarded.h"

namespace stepscope {

// The GPUs of a run: those that its ranks may use and, before one has connected, those that its
// command may use. For one thread, but for Of. The references outlive it.
class RunGpus {
 public:
  // `intake` may be null.
  RunGpus(std::string root, const Intake* intake, const Sampler& sampler)
      : root_(std::move(root)), intake_(intake), sampler_(sampler) {}

  // Reads what came since; returns whether the GPUs are others than before.
  bool Update();

  std::vector<GpuFacts> Facts() const;

  // The run's part of a tick: the tick itself where all GPUs are the run's. Valid until the next
  // call. Any thread, but one at a time.
  const TickRow& Of(const TickRow& node);

 private:
  void AddRanks(const std::vector<GpuFacts>& gpus);

  struct Ticks {
    JobTickRow row{TickCgroup::kOfJob};
    bool all = true;
  };

  const std::string root_;
  const Intake* const intake_;
  const Sampler& sampler_;
  std::optional<std::pair<std::size_t, std::uint64_t>> seen_{};  // GPUs, changes of the intake
  bool any_rank_ = false;
  RankGpus of_ranks_;
  std::set<std::string> gpus_;
  Guarded<Ticks> ticks_;
};

}  // namespace stepscope
