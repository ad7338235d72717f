#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// What one call into NVIDIA's driver costs for one GPU: medians of some calls.
struct DriverCallCost {
  std::string call;
  Duration cpu{}, wall{};
  bool works = true;  // false: the driver or the GPU does not have it, and refuses in that time
};

// Makes each call that the agent makes, on the first GPU that it may see. Takes some 100 ms, during
// which a driver may hang. Fails where there is no driver or no GPU.
Result<std::vector<DriverCallCost>> MeasureNvmlCalls(const std::string& library);

}  // namespace stepscope
