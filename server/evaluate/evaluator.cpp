#include "server/evaluate/evaluator.h"

#include <exception>
#include <utility>

#include "core/base/log.h"
#include "core/base/random.h"

namespace stepscope {
namespace {

EvaluatorOptions Named(EvaluatorOptions options) {
  if (options.name.empty()) options.name = "evaluator-" + ToHex(RandomBytes(8));
  return options;
}

Duration Around(Duration duration) {
  return Duration(static_cast<std::int64_t>(static_cast<double>(duration.count()) *
                                            (0.8 + 0.4 * RandomShare())));
}

}  // namespace

Evaluator::Evaluator(Database& database, const Clock& clock, EvaluatorOptions options)
    : database_(database), clock_(clock), options_(Named(std::move(options))) {
  for (int i = 0; i < options_.threads; ++i) {
    const std::string worker = Format("{}/{}", options_.name, i);
    threads_.emplace_back(Format("evaluate-{}", i),
                          [this, worker](const std::stop_token& stop) { Work(stop, worker); });
  }
  heartbeat_ = Worker("evaluate-beat", [this](const std::stop_token& stop) { Beat(stop); });
}

// The heartbeat goes on until the last evaluation is written.
Evaluator::~Evaluator() {
  for (Worker& thread : threads_) thread.RequestStop();
  for (Worker& thread : threads_) thread.Join();
}

EvaluatorFigures Evaluator::figures() const {
  return figures_.Read([](const EvaluatorFigures& figures) { return figures; });
}

void Evaluator::Work(const std::stop_token& stop, const std::string& worker) {
  while (!stop.stop_requested()) {
    if (!WorkOnce(stop, worker)) SleepFor(stop, Around(options_.idle));
  }
}

// Claims some tasks and evaluates them; says whether there was anything to do.
bool Evaluator::WorkOnce(const std::stop_token& stop, const std::string& worker) {
  auto connection = database_.Acquire();
  if (!connection.ok()) return false;
  const auto tasks = ClaimRuleTasks(**connection, worker, options_.tasks_at_once, options_.lease);
  if (!tasks.ok() || tasks->empty()) return false;
  held_.Change([&](auto& held) {
    for (const RuleTask& task : *tasks) held[task.task_id] = task;
  });
  bool evaluated = true;
  for (const RuleTask& task : *tasks) {
    if (!stop.stop_requested()) evaluated = Evaluate(**connection, task) && evaluated;
    held_.Change([&](auto& held) { held.erase(task.task_id); });
  }
  // What was not finished, at shutdown or because the database failed, is due at once.
  return ReleaseRuleTasks(**connection, worker).ok() && evaluated;
}

// False when the database is away.
bool Evaluator::Evaluate(Connection& connection, const RuleTask& task) {
  const SteadyTime start = clock_.Steady();
  const Status done = EvaluateOrFail(connection, task);
  const auto busy = static_cast<std::uint64_t>((clock_.Steady() - start).count());
  const bool conflict = !done.ok() && done.error().code == Code::kConflict;
  figures_.Change([&](EvaluatorFigures& figures) {
    ++figures.evaluations;
    figures.busy_ns += busy;
    figures.conflicts += conflict ? 1 : 0;
  });
  if (!done.ok() && !conflict) {
    LogWarning("rule task {}: not evaluated: {}", task.task_id, done.error().message);
  }
  return done.ok() || done.error().code != Code::kUnavailable;
}

// Conflict: the task is another evaluator's by now. Unavailable: the database is away.
Status Evaluator::EvaluateOrFail(Connection& connection, const RuleTask& task) {
  const auto turn = TryEvaluate(connection, task);
  if (turn.ok()) {
    const Status finished = FinishRuleTask(connection, turn->evaluated, options_.public_url);
    if (finished.ok()) {
      figures_.Change([&](EvaluatorFigures& figures) {
        figures.rows += turn->rows;
        figures.lag = turn->lag;
      });
    }
    const bool ours = finished.ok() || finished.error().code == Code::kConflict ||
                      finished.error().code == Code::kUnavailable;
    if (ours) return finished;
    return FailRuleTask(connection, task, finished.error().message, options_.public_url);
  }
  if (turn.error().code == Code::kUnavailable) return turn.error();
  LogWarning("rule task {} of job {}: {}", task.task_id, task.job_id, turn.error().message);
  figures_.Change([](EvaluatorFigures& figures) { ++figures.failures; });
  return FailRuleTask(connection, task, turn.error().message, options_.public_url);
}

Result<Turn> Evaluator::TryEvaluate(Connection& connection, const RuleTask& task) {
  if (task.attempt > kMostAttempts) {
    return Internal(Format("the evaluation ended its program {} times", kMostAttempts));
  }
  // JSON and containers throw; one rule's fault must not end the others.
  try {
    return EvaluateRule(connection, task, clock_.Now(), options_.evaluation);
  } catch (const std::exception& fault) {
    return Internal(Format("the evaluation failed: {}", Printable(fault.what())));
  }
}

void Evaluator::Beat(const std::stop_token& stop) {
  while (SleepFor(stop, options_.heartbeat)) RenewAll();
}

void Evaluator::RenewAll() {
  const auto held = held_.Read([](const auto& tasks) { return tasks; });
  if (held.empty()) return;
  auto connection = database_.Acquire();
  if (!connection.ok()) return;
  for (const auto& [task_id, task] : held) {
    // A task that is no longer ours is found out when its outcome is refused.
    const auto renewed = RenewRuleTask(**connection, task, options_.lease);
    if (!renewed.ok()) return;
  }
}

}  // namespace stepscope
