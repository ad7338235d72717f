#pragma once

#include <memory>
#include <string>

#include "agent/collect/collector.h"

namespace stepscope {

// Collects the GPUs of the node, of any vendor: NVIDIA through the driver's library, AMD and Intel
// through the files of the kernel. One collector, so that a node has one reason for having no GPU.
Result<std::unique_ptr<Collector>> MakeGpuCollector(const std::string& root, TickRow& row);

// Collects the cards of one vendor that a training run can use. A GPU inside the processor is left
// out: it would look like a GPU that has nothing to do.
Result<std::unique_ptr<Collector>> MakeAmdCollector(const std::string& root);
Result<std::unique_ptr<Collector>> MakeIntelCollector(const std::string& root);

// NVIDIA's library of the node below `root`; else the one that the loader finds, also the agent's
// own when it runs in a container.
std::string NvmlFile(const std::string& root);

}  // namespace stepscope
