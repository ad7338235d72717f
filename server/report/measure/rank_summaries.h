#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "server/report/measure/step_summary.h"
#include "server/store/annotations/annotations.h"

namespace stepscope {

struct RankOnNode {
  int rank = 0;
  std::string node;  // "" when it is not known
};
// The ranks by number: a single one, or all.
Result<std::vector<RankOnNode>> FindRanks(Connection& connection, std::int64_t job_id,
                                          std::optional<std::int64_t> only = {});

// At most `most` ranks, always with the first and the last.
std::vector<RankOnNode> EvenlyChosen(const std::vector<RankOnNode>& ranks, std::size_t most);

struct RankSummary {
  RankOnNode of;
  StepFigures steps;
  std::vector<AnnotationRow> annotations;
};
OrderedJson ToJson(const RankSummary& summary);

// Reads the steps of some ranks in one snapshot, and returns a summary for each. The histograms
// have `bins` bins.
Status ForEachSummary(Connection& connection, std::int64_t job_id,
                      std::span<const RankOnNode> ranks, std::size_t bins,
                      const std::function<void(const RankSummary&)>& take);

}  // namespace stepscope
