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
  Duration silence = 60s;  // a node without frames for longer is not waited for
  // Steps are pushed with the ticks of their time or one push later, so the newest ticks wait.
  Duration settle = 2s;
  // A longer turn is an error of the rule. A turn reads so little that it should take less than a
  // second.
  Duration longest_turn = 60s;
};

// The result of a rule's turn, ready to be written.
struct Turn {
  Evaluated evaluated;
  std::size_t rows = 0;  // ticks and steps that were new
  Duration lag{};        // how far the data seen is behind `now`; 0 once the job ended
};

// Makes a turn of each of these rules of one job, and returns them in the same order. A turn
// continues after the rule's last one: it reads new data, folds it and judges. Data that several
// rules need is read once. Writes nothing. The error of a turn is a fault of its rule. An error of
// the whole call is Unavailable when the database is; any other is a fault of the job.
Result<std::vector<Result<Turn>>> EvaluateRules(Connection& connection,
                                                std::span<const RuleTask> tasks, const Clock& clock,
                                                const EvaluationOptions& options);

}  // namespace stepscope
