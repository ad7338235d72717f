#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/model/table.h"

namespace stepscope {

// The samples of a chart's series as they were read, where each would have a bin of its own: a
// quarter of the memory of bins, which do not fit into the processor's cache.
struct ChartSamples {
  std::shared_ptr<const std::vector<std::int64_t>> at_us;  // shared by all series of a table
  Column column;
  std::int64_t shortest_us = INT64_MAX;  // the time between two samples

  bool empty() const { return at_us == nullptr; }
};

bool HasAny(const Column& column);

// The shortest time between two of these times, which ascend, and between two values of the column.
// INT64_MAX where there are not two.
std::int64_t ShortestUs(std::span<const std::int64_t> at_us);
std::int64_t ShortestUs(std::span<const std::int64_t> at_us, const Column& column);

// The time of the last sample; 0 without one.
std::int64_t LastUs(const ChartSamples& samples);

}  // namespace stepscope
