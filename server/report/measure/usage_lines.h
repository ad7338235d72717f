#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/report/measure/device_use.h"

namespace stepscope {

// A metric of a node over time, all its devices together: the mean of the devices' means, with the
// least and the greatest value of any device; for rates that add up, the sum.
struct UsageLine {
  std::string node, metric;
  std::string_view unit;
  std::size_t devices = 0;
  std::int64_t gap_us = 0;  // two points that are further apart than this are not joined
  std::vector<DeviceUse::Point> points;
};
enum class RateMerge { kAddUp, kMean };
std::vector<UsageLine> LinesOf(const DeviceUses& uses, RateMerge rates = RateMerge::kAddUp);

}  // namespace stepscope
