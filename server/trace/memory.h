#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/trace/trace_links.h"

namespace stepscope {

// What was allocated while a trace was recorded, where it was recorded with profile_memory.
struct MemoryPoint {
  std::int64_t at_ns = 0, allocated = -1, reserved = -1;  // bytes; -1: not said
};
struct Allocation {
  std::int64_t at_ns = 0, bytes = 0;
  std::string operator_name;  // the innermost operator around it; "" none
};
struct DeviceMemory {
  std::int32_t device = -1;  // -1: the CPU
  std::uint64_t allocations = 0, frees = 0;
  std::int64_t peak_allocated = -1, peak_reserved = -1, peak_at_ns = 0;
  std::string peak_operator;        // around the peak; "" none
  std::vector<MemoryPoint> curve;   // at most kCurvePoints, each the peak of its bin
  std::vector<Allocation> largest;  // at most kLargest
};
inline constexpr std::size_t kCurvePoints = 500, kLargest = 50;

std::vector<DeviceMemory> MakeMemory(const TraceLinks& links);
OrderedJson ToJson(const std::vector<DeviceMemory>& memory);

}  // namespace stepscope
