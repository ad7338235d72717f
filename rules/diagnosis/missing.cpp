#include "rules/diagnosis/missing.h"

#include <algorithm>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostNodes = 5;  // nodes whose processes report no steps are named
constexpr std::size_t kMostRanks = 5;  // ranks that several processes claim are named

std::string NoGpuClock(const JobFacts& facts) {
  const auto off = std::ranges::find_if(
      facts.ranks, [](const RankFacts& rank) { return !rank.gpu_clock.empty(); });
  return Format("The GPU's own clock is not known{}: idle time is divided by what the host did.",
                off == facts.ranks.end() ? " for most steps" : Format(" ({})", off->gpu_clock));
}

}  // namespace

std::vector<std::string> WhatIsMissing(const JobFacts& facts, bool steps, bool host_clock) {
  std::vector<std::string> missing;
  if (!steps) missing.push_back("No training process has reported a step.");
  for (const NodeFacts& node : facts.nodes) {
    if (node.hooks_missing.empty() || missing.size() >= kMostNodes) continue;
    missing.push_back(Format("Node {}: {}.", node.name, node.hooks_missing));
  }
  const auto is_behind_a_thread = [](const RankFacts& rank) {
    return rank.hides_data && !rank.no_loader;
  };
  if (std::ranges::any_of(facts.ranks, &RankFacts::no_loader)) {
    missing.push_back(
        "No loader of PyTorch is seen: waits for data are known only where the script names them "
        "(stepscope.phase).");
  }
  if (std::ranges::any_of(facts.ranks, is_behind_a_thread)) {
    missing.push_back(
        "Batches reach the training through another thread than that of its loader: waits for them "
        "are not seen.");
  }
  std::size_t shared = 0;
  for (const RankFacts& rank : facts.ranks) {
    if (rank.second_process.empty() || ++shared > kMostRanks) continue;
    missing.push_back(rank.second_process + ".");
  }
  if (steps && host_clock) missing.push_back(NoGpuClock(facts));
  return missing;
}

bool AreStepsSeenInPart(const JobFacts& facts) {
  return std::ranges::any_of(facts.nodes,
                             [](const NodeFacts& node) { return !node.hooks_missing.empty(); }) ||
         std::ranges::any_of(facts.ranks, [](const RankFacts& rank) {
           return rank.hides_data || !rank.second_process.empty();
         });
}

}  // namespace stepscope
