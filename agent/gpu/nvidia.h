#pragma once

#include <memory>
#include <string>

#include "agent/collect/collector.h"
#include "agent/gpu/nvml_reader.h"
#include "core/base/clock.h"

namespace stepscope {

inline SteadyTime SystemSteady() {
  return SystemClock().Steady();
}

// Collects each GPU that NVML shows us, as gpu0 and so on in NVML's order. `library` is a file, or
// a name for the system's loader. `steady` tells how late the driver answers.
Result<std::unique_ptr<Collector>> MakeNvidiaCollector(const std::string& library,
                                                       const NvmlPatience& patience,
                                                       const SteadyNow& steady = SystemSteady);

}  // namespace stepscope
