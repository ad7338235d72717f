#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "core/base/worker.h"
#include "server/evaluate/evaluation.h"
#include "server/evaluate/window_asker.h"
#include "server/store/rules/rule_outcome.h"

namespace stepscope {

struct EvaluatorOptions {
  EvaluationOptions evaluation;
  int threads = 2;
  int tasks_at_once = 64;  // the most tasks that a thread claims in one call, all of one job
  Duration idle = 500ms;   // between two searches of a thread for work, +- 20 %
  Duration lease = 30s;    // a dead evaluator's tasks are taken over after this
  Duration heartbeat = 10s;
  Duration longest_hold = 5min;  // a task held for longer hangs, and is left to others
  std::string name;              // unique among all evaluators of the database; empty: made here
  std::string public_url;        // address of the web page, for webhooks
};

// Sums over all threads since the start; the lag is that of the newest evaluation of a running job.
struct EvaluatorFigures {
  std::uint64_t evaluations = 0, failures = 0, conflicts = 0, rows = 0;
  std::uint64_t busy_ns = 0;  // inside evaluations, all threads together
  Duration lag{};
};

// Evaluates the rules of running jobs: threads claim tasks from the database, fold what is new, and
// write the outcome under the task's fence, so any number of evaluators may share a database. A
// rule that fails is tried again and ends in Error; it never stops another. While the database is
// away nothing is lost: the tasks' leases end. Destroying it gives the tasks back.
class Evaluator {
 public:
  // `database` has room for threads + 1 connections; both references outlive this.
  Evaluator(Database& database, const Clock& clock, EvaluatorOptions options);
  ~Evaluator();

  EvaluatorFigures figures() const;

 private:
  void Work(const std::stop_token& stop, const std::string& worker);
  bool WorkOnce(const std::stop_token& stop, const std::string& worker,
                std::vector<std::int64_t>& left);
  bool Evaluate(Connection& connection, const std::vector<RuleTask>& tasks);
  void ConsiderWindow(Connection& connection, std::int64_t job_id);
  Status EvaluateOrFail(Connection& connection, const std::vector<RuleTask>& tasks);
  Result<std::vector<Result<Turn>>> TryEvaluate(Connection& connection,
                                                const std::vector<RuleTask>& tasks);
  Status Write(Connection& connection, std::span<const Evaluated> outcomes);
  Status Fail(Connection& connection, const RuleTask& task, const Error& error);
  void Beat(const std::stop_token& stop);
  void RenewAll();

  Database& database_;
  const Clock& clock_;
  const EvaluatorOptions options_;
  struct Held {
    RuleTask task;
    SteadyTime since;
  };
  Guarded<std::map<std::int64_t, Held>> held_;  // by task_id
  Guarded<EvaluatorFigures> figures_;
  WindowAsker windows_;
  std::vector<Worker> threads_;
  Worker heartbeat_;  // made last, stopped first: see the destructor
};

}  // namespace stepscope
