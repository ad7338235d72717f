#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "agent/collect/collector.h"

namespace stepscope {

struct MemoryFigures {
  std::uint64_t total_bytes = 0;
  std::uint64_t available_bytes = 0;
  std::uint64_t cached_bytes = 0;
  std::uint64_t shared_bytes = 0;
  std::uint64_t dirty_bytes = 0;
  std::uint64_t swap_bytes = 0;
  std::uint64_t swap_used_bytes = 0;
};

// Parses /proc/meminfo. Kernels before 3.14 have no MemAvailable; the sum of free, buffers and
// cached replaces it.
Result<MemoryFigures> ParseMemory(std::string_view text);

Result<std::unique_ptr<Collector>> MakeMemoryCollector(const std::string& root, TickRow& row);

}  // namespace stepscope
