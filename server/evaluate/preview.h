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
  EvaluationOptions evaluation{
      .feed = {.cells = 500'000, .steps = 20'000}};  // the limits bound the memory of a preview
  Duration most = 1s;  // the preview ends with the piece in which this time is over
};

// The verdict that a rule would reach on a job.
struct Preview {
  RuleStatus status = RuleStatus::kInProgress;
  RuleNow now;   // status as a rule that sums up others reads it
  Json verdict;  // the verdict as it would be stored
  std::vector<FindingRow> findings;
  std::size_t rows = 0;      // ticks and steps that were seen
  bool complete = false;     // all stored data was seen; else the oldest, until the time was over
  std::optional<Time> seen;  // time up to which ticks were seen; nothing without ticks
};

// Judges a job from its beginning by a rule that need not be one of its rules: the same fold over
// the same data as an evaluation. Writes nothing. For a rule that sums up others, the others count
// by their stored status, or by `others` where they would be changed too. Invalid when the rule or
// its parameters are wrong.
Result<Preview> PreviewRule(Connection& connection, const RuleConfigRow& config, const Clock& clock,
                            const PreviewOptions& options, std::span<const RuleNow> others = {});

}  // namespace stepscope
