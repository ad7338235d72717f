#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/collect/gpu_values.h"
#include "agent/collect/reading_plan.h"
#include "agent/collect/tick_row.h"
#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// Reads one source of samples of this node. For one thread, except where a function says otherwise.
class Collector {
 public:
  virtual ~Collector() = default;

  // Called at the start of a tick: a collector that asks another thread asks it here, and has the
  // answer in Collect.
  virtual void Begin(SteadyTime) {}

  // Sets the columns of this tick. Rates are over the time since the previous call, and missing at
  // the first one and when a counter ran backwards. An error means that this source gave nothing
  // now; the next call may work again.
  virtual Status Collect(SteadyTime now, TickRow& row) = 0;

  // The GPUs that it reads. Any thread may call this and the functions below.
  virtual std::vector<GpuFacts> Gpus() const { return {}; }

  // Adds the processes that hold memory of these GPUs, as of some seconds before `now`.
  virtual void GpuProcessesInto(SteadyTime, std::vector<GpuProcess>&) const {}

  // Whether more GPUs may appear later.
  virtual bool Starting() const { return false; }

  // True when it will never read again, so that its owner may make it anew. Its last call returned
  // the reason as an error.
  virtual bool Ended() const { return false; }

  // The part of its source that it leaves out now, and why; "" when it reads all.
  virtual std::string Shortfall() const { return ""; }

  // What its readings may cost from now on, in CPU seconds a second, where it chooses their periods
  // itself; and those that it does more seldom than it would to keep to it.
  virtual void KeepWithin(double /*core_share*/) {}
  virtual std::vector<SlowedReading> Slowed() const { return {}; }
};

// A row of the collector table. `make` fails, with the reason, where the node has no such source.
struct CollectorKind {
  std::string_view name;
  Result<std::unique_ptr<Collector>> (*make)(const std::string& root, TickRow& row);
  // The source's driver may be loaded later, so `make` is called again; it touches no row before
  // Collect.
  bool may_come = false;
};

std::span<const CollectorKind> CollectorTable();

}  // namespace stepscope
