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

// Parses a line of /proc/net/dev; the interface's name is a part of `line`. Nothing for the two
// head lines.
std::optional<NetworkTotals> ParseNetworkLine(std::string_view line);

// Collects interfaces that lead out of the node: not the loopback, and no interface that containers
// and bridges make, whose bytes would be counted twice. An interface without any packet since its
// start has no series.
Result<std::unique_ptr<Collector>> MakeNetworkCollector(const std::string& root, TickRow& row);

}  // namespace stepscope
