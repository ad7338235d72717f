#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/collect/collector.h"

namespace stepscope {

// The bytes per second of a text such as "400 Gb/sec (4X NDR)".
std::optional<double> ParseRdmaRate(std::string_view text);

// Collects the ports of InfiniBand and RoCE adapters, whose bytes the network interfaces do not
// show: named mlx5_0:1, as NCCL does. Bytes every second, other counters every 5 s.
Result<std::unique_ptr<Collector>> MakeRdmaCollector(const std::string& root, TickRow& row);

// Collects them on a thread of its own, which exists only where an adapter is.
Result<std::unique_ptr<Collector>> MakeRdmaAside(const std::string& root, TickRow& row);

}  // namespace stepscope
