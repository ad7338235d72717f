#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "agent/collect/collector.h"
#include "agent/collect/series.h"
#include "agent/marks/intake.h"

namespace stepscope {

// Whether the ranks of a job evaluate: at each tick the share of the time since the tick before, so
// that a long validation is no silence. A rank tells of its evaluation afterwards, in pieces of
// about ten seconds, so the share is that much late: a piece fills the ticks that follow it.
// Samples begin with a rank's first evaluation. For one thread.
class RankEvaluation : public Collector {
 public:
  // Calls `use` for each rank that told of an evaluation since the last call.
  using Take = std::function<void(const UseEvaluated& use)>;
  // A longer piece is cut to this length: a sample that came later would be taken for the present.
  static constexpr Duration kMostLate = std::chrono::seconds(15);

  explicit RankEvaluation(Take take) : take_(std::move(take)) {}

  Status Collect(SteadyTime now, TickRow& row) override;

 private:
  struct Rank {
    GaugeSeries series;
    Duration untold{};  // evaluated time that no tick has shown yet
  };
  void Show(Duration since, TickRow& row);

  const Take take_;
  std::map<std::int32_t, Rank> ranks_;
  std::optional<SteadyTime> last_;
};

}  // namespace stepscope
