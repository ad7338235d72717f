#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/collect/collector.h"

namespace stepscope {

// The one-minute average in a text such as "0.20 0.18 0.12 1/80 11206".
std::optional<double> ParseLoad(std::string_view text);

// Collects the load every 5 s, as often as the kernel computes it.
Result<std::unique_ptr<Collector>> MakeLoadCollector(const std::string& root, TickRow& row);

}  // namespace stepscope
