#pragma once

#include <memory>
#include <string>

#include "agent/collector.h"
#include "agent/nvml_reader.h"

namespace stepscope {

// Each GPU that NVML knows, as gpu0 and so on in NVML's order. `library` is a file, or a name for
// the system's loader.
Result<std::unique_ptr<Collector>> MakeNvidiaCollector(const std::string& library,
                                                       const NvmlPatience& patience);

}  // namespace stepscope
