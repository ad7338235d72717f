#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/collect/collector.h"

namespace stepscope {

// What a block device did since the start of the node.
struct DiskTotals {
  std::string_view device;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t busy_ms = 0;
};

// A line of /proc/diskstats; the device's name lies in `line`.
std::optional<DiskTotals> ParseDiskLine(std::string_view line);

// Whole devices with hardware behind them: no partitions, loops, RAM disks, and no device mapper or
// RAID, whose bytes would be counted twice.
Result<std::unique_ptr<Collector>> MakeDiskCollector(const std::string& root, TickRow& row);

}  // namespace stepscope
