#include "agent/marks/live_ranks.h"

#include "core/base/json.h"

namespace stepscope {
namespace {

void TakeSteps(const std::vector<Step>& steps, LiveRank& live) {
  if (steps.empty()) return;
  const auto count = static_cast<std::int64_t>(steps.size());
  live.wall = {};
  live.phases = {};
  for (const Step& step : steps) {
    live.wall += step.wall / count;
    for (std::size_t i = 0; i < kPhaseCount; ++i) live.phases[i] += step.phases[i] / count;
  }
  live.step = steps.back().number;
  live.at = steps.back().start + steps.back().wall;
}

}  // namespace

void LiveRanks::Add(const IntakeBatch& batch) {
  ranks_.Change([&](std::map<std::int32_t, LiveRank>& ranks) {
    for (const RankRegistration& rank : batch.rank_started) {
      const auto facts = ParseJson(rank.facts);
      ranks[rank.rank].rank = rank.rank;
      if (facts && facts->contains("pid")) ranks[rank.rank].pid = (*facts)["pid"];
    }
    for (const RankMarks& marks : batch.marks) {
      const auto known = ranks.find(marks.rank);
      if (known != ranks.end()) TakeSteps(marks.steps, known->second);
    }
    for (const RankEnd& rank : batch.rank_ended) ranks.erase(rank.rank);
  });
}

std::vector<LiveRank> LiveRanks::Read() const {
  return ranks_.Read([](const std::map<std::int32_t, LiveRank>& ranks) {
    std::vector<LiveRank> live;
    for (const auto& [number, rank] : ranks) live.push_back(rank);
    return live;
  });
}

}  // namespace stepscope
