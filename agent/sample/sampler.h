#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/collect/collector.h"
#include "agent/collect/tick_row.h"
#include "core/base/clock.h"
#include "core/base/guarded.h"

namespace stepscope {

// A source that is absent on this node, or read in part, and why.
struct AbsentSource {
  std::string source;
  std::string reason;

  bool operator==(const AbsentSource&) const = default;
};

// Asks every collector for its part of a tick. A collector that fails leaves its columns missing,
// never stops the others, and is absent until it works again; both are logged once. For one thread.
// `clock` outlives it.
class Sampler {
 public:
  // Starts the collectors of this node's sources, and reads each counter once, so that the first
  // tick has rates.
  // All of them keep to `core_share`, in CPU seconds a second: GPUs have half of it, where there
  // are some, and the rest the other half. Above it they are read more seldom, see ReadingPlan.
  Sampler(const std::string& root, const Clock& clock, double core_share = kUsualCoreShare);

  // Adds a collector that not every node or command has.
  void Add(std::string_view name, std::unique_ptr<Collector> collector) {
    running_.push_back({name, std::move(collector)});
  }

  // Adds a dear one, which the budget may have read more seldom. It paces its parts itself, so that
  // the mean of many readings is what it costs.
  void AddPlanned(std::string_view name, std::unique_ptr<Collector> collector) {
    running_.push_back({name, std::move(collector), false, plan_.Add({.name = name}), true});
    running_.back().told_at = ticks_;
  }

  // The next tick, valid until the next call.
  const TickRow& Sample();

  // Any thread may call the functions below. Their results change: GPUs appear while their driver
  // starts, or when it is loaded; a source may become too large to be read as a whole, or fail for
  // some seconds.
  std::vector<AbsentSource> Absent() const;
  std::vector<GpuFacts> Gpus() const;
  bool Starting() const;
  std::vector<SlowedReading> Slowed() const;

  // The processes of all collectors: see Collector.
  void GpuProcessesInto(SteadyTime now, std::vector<GpuProcess>& processes) const {
    for (const Running& one : running_) one.collector->GpuProcessesInto(now, processes);
  }

 private:
  struct Running {
    std::string_view name;
    std::unique_ptr<Collector> collector;
    bool failing = false;
    std::optional<std::size_t> planned{};  // its number in the plan; nothing: read at each tick
    bool averaged = false;                 // readings cost more and less in turn
    Duration spent{};                      // by `readings` that the plan does not know
    unsigned readings = 0;
    unsigned told_at = 0;  // the tick at which it was told last
  };

  struct Failure {
    std::string_view source;
    SteadyTime since;
    std::string reason;  // first error: later ones may differ in a number only
  };

  void ShareBudget();
  bool Due(const Running& running);
  Status Collect(Running& running);
  void Spend(Running& running, Duration cpu);
  void Note(Running& running, const Status& status);
  std::string FailureOf(std::string_view source) const;

  const Clock& clock_;
  const double core_share_;
  TickRow row_;
  ReadingPlan plan_;
  unsigned ticks_ = 0, changes_ = 0;  // changes of the plan that were seen
  std::size_t series_ = 0;            // as of the previous tick
  Guarded<std::vector<SlowedReading>> slowed_;
  std::vector<Running> running_;
  std::vector<AbsentSource> absent_;
  Guarded<std::vector<Failure>> failures_;  // failures of running collectors
};

// The first multiple of the interval since the epoch that is later than `now`.
Time NextTick(Time now, Duration interval);

}  // namespace stepscope
