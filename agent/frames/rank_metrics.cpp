#include "agent/frames/rank_metrics.h"

#include "core/base/text.h"

namespace stepscope {

Status RankMetrics::Collect(SteadyTime, TickRow& row) {
  for (const RankMetric& said : take_()) {
    const auto [entry, added] =
        series_.try_emplace({said.rank, said.metric}, said.metric, Format("rank{}", said.rank));
    entry->second.Set(said.value, row);
  }
  return {};
}

}  // namespace stepscope
