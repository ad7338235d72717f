#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/collect/collector.h"

namespace stepscope {

// The counters of a block device since the start of the node.
struct DiskTotals {
  std::uint64_t reads = 0, read_bytes = 0, read_ms = 0;
  std::uint64_t writes = 0, write_bytes = 0, write_ms = 0;
  std::uint64_t busy_ms = 0;
  std::uint64_t queued_ms = 0;  // time of all requests together
};

// Parses /sys/block/DEVICE/stat.
std::optional<DiskTotals> ParseDiskStat(std::string_view text);

// Collects whole devices with hardware behind them: no partitions, loops, RAM disks, and no device
// mapper or RAID, whose bytes would be counted twice. A device that did nothing since the start of
// the node has no series. New devices are searched every 30 s.
Result<std::unique_ptr<Collector>> MakeDiskCollector(const std::string& root, TickRow& row);

}  // namespace stepscope
