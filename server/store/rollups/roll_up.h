#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/store/ticks/tick_table.h"

namespace stepscope {

// Rollups: count, least, greatest and sum of the values of one metric of one node, all its devices,
// in bins of fixed width. A row of the table holds the bins of one chunk of time. As a TickTable,
// each device has the series kCount, kLeast, kGreatest and kSum; at_us is the begin of the bin.

inline constexpr char kCount[] = "count", kLeast[] = "min", kGreatest[] = "max", kSum[] = "sum";

struct RollupLevel {
  std::int64_t bin_us = 0;
  std::int64_t chunk_us = 0;  // width of the time that one row holds
};
// The levels, the finest first; each divides the next, and a block window divides each chunk.
inline constexpr RollupLevel kRollupLevels[] = {
    {10'000'000, 3'600'000'000}, {60'000'000, 21'600'000'000}, {600'000'000, 172'800'000'000}};

// The coarsest level with bins that are not wider than wanted; null when all are.
const RollupLevel* LevelFor(std::int64_t bin_us);

// The begin of the chunk that a time is in.
std::int64_t ChunkOf(std::int64_t at_us, std::int64_t bin_us);

// The bins of a block.
TickTable RollUp(const TickTable& block, std::int64_t bin_us);

// The bins of both tables; bins that both have are added up.
TickTable AddBins(const TickTable& bins, const TickTable& more);

// The four columns of each device of such a table; two where least and greatest were not read.
struct RollupDevice {
  const std::string* device;
  const Column *count, *least, *greatest, *sum;
};
std::vector<RollupDevice> DevicesOf(const TickTable& bins);

}  // namespace stepscope
