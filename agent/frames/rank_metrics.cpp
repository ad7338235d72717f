#include "agent/frames/rank_metrics.h"

#include "core/base/text.h"

namespace stepscope {

Status RankMetrics::Collect(SteadyTime, TickRow& row) {
  take_([this, &row](std::int32_t rank, const std::string& metric, double value) {
    auto& series = series_[rank];
    auto known = series.find(metric);
    // Allocates a name for a new series only.
    if (known == series.end())
      known = series.emplace(metric, CustomSeries(metric, Format("rank{}", rank))).first;
    known->second.Set(value, row);
  });
  return {};
}

}  // namespace stepscope
