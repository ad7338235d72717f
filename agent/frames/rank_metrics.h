#pragma once

#include <functional>
#include <map>
#include <string>

#include "agent/collect/collector.h"
#include "agent/collect/custom_series.h"
#include "agent/marks/intake.h"

namespace stepscope {

// Samples of the metrics that the scripts of a job set by stepscope.metric(): at each tick the
// newest value of each name that a rank has set since the previous tick; its device is "rank0". A
// name that was not set has no sample, so that a training that hangs does not look as fast as it
// was. For one thread.
class RankMetrics : public Collector {
 public:
  // Calls `use` for each metric that was set since the last call.
  using Take = std::function<void(const UseMetric& use)>;

  explicit RankMetrics(Take take) : take_(std::move(take)) {}

  Status Collect(SteadyTime now, TickRow& row) override;

 private:
  const Take take_;
  std::map<std::int32_t, std::map<std::string, CustomSeries>> series_;  // by rank and metric
};

}  // namespace stepscope
