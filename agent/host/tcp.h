#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/collect/collector.h"

namespace stepscope {

// A counter of TCP in /proc/net/snmp, which has a line of names and a line of numbers.
std::optional<std::uint64_t> ParseTcp(std::string_view text, std::string_view name);

// Collects segments that the node sent again, every 5 s.
Result<std::unique_ptr<Collector>> MakeTcpCollector(const std::string& root, TickRow& row);

}  // namespace stepscope
