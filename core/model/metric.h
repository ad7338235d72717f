#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace stepscope {

// The kind of device that a metric's samples belong to.
enum class DeviceKind { kNode, kCpu, kGpu, kDisk, kNetwork, kRank };

// One row of the metric table. Collectors, ingest, API, UI and documentation all read it. Rates are
// computed on the node, so every metric here is a gauge.
struct Metric {
  std::string_view name;
  DeviceKind device;
  std::string_view unit;  // "%", "bytes", "bytes/s", "1/s", "s", "W", ...; "" for plain numbers
  std::uint8_t scale;     // decimal digits that are kept: 41.27 % is the integer 4127 at scale 2
  std::string_view help;
};

std::span<const Metric> Metrics();

// Null when there is no such metric. Names under "user." are custom metrics without a row here; see
// IsCustomMetric.
const Metric* FindMetric(std::string_view name);

// Whether the name is "user." and then 1 to 58 of [a-zA-Z0-9_.].
bool IsCustomMetric(std::string_view name);

std::string_view ToText(DeviceKind kind);

}  // namespace stepscope
