#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/base/clock.h"
#include "server/evaluate/evaluation.h"
#include "server/evaluate/summing_up.h"
#include "server/store/rules/rules.h"

namespace stepscope {

struct PreviewOptions {
  EvaluationOptions evaluation{.feed = {.cells = 500'000, .steps = 20'000}};  // bounds its memory
  Duration most = 1s;  // it ends with the piece in which this is over
};

// What a rule would say of a job.
struct Preview {
  RuleStatus status = RuleStatus::kInProgress;
  RuleNow now;   // of the same, for a rule that sums it up
  Json verdict;  // as it would be stored
  std::vector<FindingRow> findings;
  std::size_t rows = 0;      // ticks and steps that were seen
  bool complete = false;     // all that is stored; else the oldest, until its time was over
  std::optional<Time> seen;  // up to where ticks were seen; nothing without ticks
};

// Judges a job from its beginning by a rule that need not be one of its rules: the same fold over
// the same data as an evaluation. Writes nothing. Of a rule that sums up others these count as they
// stand, or where they would be changed too, as `others` say. Invalid when the rule or its
// parameters are wrong.
Result<Preview> PreviewRule(Connection& connection, const RuleConfigRow& config, const Clock& clock,
                            const PreviewOptions& options, std::span<const RuleNow> others = {});

}  // namespace stepscope
