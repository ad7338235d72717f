#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/collect/collector.h"

namespace stepscope {

struct NetworkTotals {
  std::string_view device;
  std::uint64_t receive_bytes = 0, receive_packets = 0, receive_errors = 0, receive_drops = 0;
  std::uint64_t send_bytes = 0, send_packets = 0, send_errors = 0, send_drops = 0;
};

// A line of /proc/net/dev; the interface's name lies in `line`. Nothing for the two head lines.
std::optional<NetworkTotals> ParseNetworkLine(std::string_view line);

// Interfaces that lead out of the node: not the loopback, and none that containers and bridges
// make, whose bytes would be counted twice. One without any packet since its start has no series.
Result<std::unique_ptr<Collector>> MakeNetworkCollector(const std::string& root, TickRow& row);

}  // namespace stepscope
