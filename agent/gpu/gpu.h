#pragma once

#include <memory>
#include <string>

#include "agent/collect/collector.h"

namespace stepscope {

// The GPUs of the node, whoever made them: NVIDIA through the driver's library, AMD and Intel
// through the files of the kernel. One source, so that a node has one reason for having none.
Result<std::unique_ptr<Collector>> MakeGpuCollector(const std::string& root, TickRow& row);

// Cards of that vendor that a training run can use. What sits inside the processor is left out:
// it would look like a GPU that has nothing to do.
Result<std::unique_ptr<Collector>> MakeAmdCollector(const std::string& root);
Result<std::unique_ptr<Collector>> MakeIntelCollector(const std::string& root);

}  // namespace stepscope
