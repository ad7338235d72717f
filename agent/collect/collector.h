#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/collect/gpu_values.h"
#include "agent/collect/tick_row.h"
#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// Reads one source of samples of this node. For one thread, but for what says otherwise.
class Collector {
 public:
  virtual ~Collector() = default;

  // A tick begins: whoever must ask somebody else asks now, and has the answer when it collects.
  virtual void Begin(SteadyTime) {}

  // Sets the columns of this tick. Rates are over the time since the call before, and missing at
  // the first one and when a counter ran backwards. An error means that this source gave nothing
  // now; the next call may work again.
  virtual Status Collect(SteadyTime now, TickRow& row) = 0;

  // The GPUs that it reads. This and what follows may be called by any thread.
  virtual std::vector<GpuFacts> Gpus() const { return {}; }

  // Adds the processes that hold memory of these GPUs, as of some seconds before `now`.
  virtual void GpuProcessesInto(SteadyTime, std::vector<GpuProcess>&) const {}

  // Whether there may be more of them later.
  virtual bool Starting() const { return false; }

  // That it will never read again, and whoever made it may make it anew. What it says of that was
  // the error of its last call.
  virtual bool Ended() const { return false; }

  // What it leaves out of its source now, and why; "" when it reads all.
  virtual std::string Shortfall() const { return ""; }
};

// A row of the collector table. `make` fails, with the reason, where the node has no such source.
struct CollectorKind {
  std::string_view name;
  Result<std::unique_ptr<Collector>> (*make)(const std::string& root, TickRow& row);
  // Its driver may be loaded later, so it is asked for again; touches no row before it collects.
  bool may_come = false;
};

std::span<const CollectorKind> CollectorTable();

}  // namespace stepscope
