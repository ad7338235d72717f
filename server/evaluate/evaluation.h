#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "server/evaluate/feed.h"
#include "server/store/rules/rule_outcome.h"
#include "server/store/rules/rules.h"

namespace stepscope {

struct EvaluationOptions {
  FeedOptions feed;
  Duration slot = 2s;      // between two evaluations of a rule
  Duration silence = 60s;  // a node without frames for longer holds nobody up
  // Steps are pushed with the ticks of their time or one push later, so the newest ticks wait.
  Duration settle = 2s;
  // A turn of a rule that takes longer is an error of the rule. It reads so little that none should
  // take a second.
  Duration longest_turn = 60s;
};

// One turn of a rule, ready to be written.
struct Turn {
  Evaluated evaluated;
  std::size_t rows = 0;  // ticks and steps that were new
  Duration lag{};        // how far the data seen is behind `now`; 0 once the job ended
};

// A turn of each of these rules of one job, in their order: goes on where the rule's last turn
// stood, reads what is new, folds it, judges. What several rules need is read once. Writes nothing.
// The error of a turn is a fault of this rule. Errors of all: Unavailable when the database is;
// anything else is a fault of the job.
Result<std::vector<Result<Turn>>> EvaluateRules(Connection& connection,
                                                std::span<const RuleTask> tasks, const Clock& clock,
                                                const EvaluationOptions& options);

}  // namespace stepscope
