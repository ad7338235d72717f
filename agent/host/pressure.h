#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/collect/collector.h"

namespace stepscope {

// Microseconds since the start of the node in which some, and all, tasks waited. "full" is not
// there for the CPU of older kernels.
struct PressureTotals {
  std::uint64_t some_us = 0;
  std::optional<std::uint64_t> full_us;
};

// Parses "some avg10=0.00 avg60=0.00 avg300=0.00 total=123" and the line with "full".
std::optional<PressureTotals> ParsePressure(std::string_view text);

// Collects /proc/pressure of the CPU, memory and disks, every 2 s.
Result<std::unique_ptr<Collector>> MakePressureCollector(const std::string& root, TickRow& row);

}  // namespace stepscope
