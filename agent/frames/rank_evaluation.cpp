#include "agent/frames/rank_evaluation.h"

#include <algorithm>

#include "core/base/text.h"

namespace stepscope {

Status RankEvaluation::Collect(SteadyTime now, TickRow& row) {
  take_([this](std::int32_t number, Duration evaluated) {
    auto known = ranks_.find(number);
    if (known == ranks_.end()) {
      GaugeSeries series("rank_evaluating_percent", Format("rank{}", number));
      known = ranks_.emplace(number, Rank{std::move(series)}).first;
    }
    Duration& untold = known->second.untold;
    untold = std::min(untold + std::clamp(evaluated, Duration(0), kMostLate), kMostLate);
  });
  if (last_ && now > *last_) Show(now - *last_, row);
  last_ = now;
  return {};
}

void RankEvaluation::Show(Duration since, TickRow& row) {
  for (auto& [number, rank] : ranks_) {
    const Duration shown = std::min(rank.untold, since);
    rank.untold -= shown;
    const double share = static_cast<double>(shown.count()) / static_cast<double>(since.count());
    rank.series.Set(100 * share, row);
  }
}

}  // namespace stepscope
