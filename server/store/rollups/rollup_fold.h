#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "server/store/rollups/rollups.h"

namespace stepscope {

// A metric in one bin of a level, over all nodes and devices of a job. Each series counts once,
// with its mean, however many samples it has; a weight lets bins be added up to wider ones.
struct FoldedBin {
  std::int64_t at_us = 0;
  double weight = 0;  // samples of the series with the most of them
  double count = 0;   // weight x how many series have samples
  double sum = 0;     // weight x the sum of the series' means
  double least = 0, greatest = 0;
};

// The folded bins of one row of rollups.
struct FoldedRollup {
  RollupKey key;
  std::int64_t series = 0;      // series that were folded
  std::uint8_t scale = 0;       // decimals of the samples
  std::vector<FoldedBin> bins;  // in the order of time
};

// Folds one row of each node into one.
class RollupFold {
 public:
  explicit RollupFold(const RollupKey& key);

  // Adds all tables of one node, with bins of the level; equal bins are added up. Bins outside of
  // the row's time do not count.
  void AddNode(std::span<const TickTable> tables);

  FoldedRollup Take() const;

 private:
  struct Samples {
    double count = 0, sum = 0, least = 0, greatest = 0;
  };
  struct Means {
    double most = 0, series = 0, sum = 0, least = 0, greatest = 0;
  };
  void Collect(const TickTable& table, const RollupDevice& device, std::vector<Samples>& line);
  void AddSeries(const std::vector<Samples>& line);

  const RollupKey key_;
  std::int64_t series_ = 0;
  std::uint8_t scale_ = 0;
  std::vector<Means> means_;  // one for each bin of the row's time
};

// The rows of rollups that ticks of a node lie in, with their bins.
std::vector<StoredRollup> RollUpTicks(const TickTable& ticks, const RollupLevel& level);

}  // namespace stepscope
