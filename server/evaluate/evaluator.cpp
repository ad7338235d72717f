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

}  // namespace

Evaluator::Evaluator(Database& database, const Clock& clock, EvaluatorOptions options)
    : database_(database), clock_(clock), options_(Named(std::move(options))), windows_(clock) {
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
  std::vector<std::int64_t> left;  // tasks that could not be given back
  while (!stop.stop_requested()) {
    if (!WorkOnce(stop, worker, left)) SleepFor(stop, Around(options_.idle));
  }
}

// Claims the due tasks of a job and evaluates them; says whether there was anything to do.
bool Evaluator::WorkOnce(const std::stop_token& stop, const std::string& worker,
                         std::vector<std::int64_t>& left) {
  auto connection = database_.Acquire();
  if (!connection.ok()) return false;
  if (!left.empty() && ReleaseRuleTasks(**connection, worker, left).ok()) left.clear();
  const auto tasks = ClaimRuleTasks(**connection, worker, options_.tasks_at_once, options_.lease);
  if (!tasks.ok() || tasks->empty()) return false;
  held_.Change([&](auto& held) {
    for (const RuleTask& task : *tasks) held[task.task_id] = {task, clock_.Steady()};
  });
  const bool evaluated = !stop.stop_requested() && Evaluate(**connection, *tasks);
  held_.Change([&](auto& held) {
    for (const RuleTask& task : *tasks) held.erase(task.task_id);
  });
  // Tasks that were not finished, at shutdown or because the database failed, are due at once.
  for (const RuleTask& task : *tasks) left.push_back(task.task_id);
  const bool released = ReleaseRuleTasks(**connection, worker, left).ok();
  if (released) left.clear();
  return released && evaluated;
}

// Returns false when the database is away.
bool Evaluator::Evaluate(Connection& connection, const std::vector<RuleTask>& tasks) {
  const SteadyTime start = clock_.Steady();
  const Status done = EvaluateOrFail(connection, tasks);
  if (done.ok()) ConsiderWindow(connection, tasks.front().job_id);
  const auto busy = static_cast<std::uint64_t>((clock_.Steady() - start).count());
  figures_.Change([&](EvaluatorFigures& figures) {
    figures.evaluations += tasks.size();
    figures.busy_ns += busy;
  });
  if (done.ok()) return true;
  LogWarning("job {}: rules not evaluated: {}", tasks.front().job_id, done.error().message);
  return done.error().code != Code::kUnavailable;
}

// A fault costs a window, and the rules nothing.
void Evaluator::ConsiderWindow(Connection& connection, std::int64_t job_id) {
  const Status considered = windows_.Consider(connection, job_id);
  if (!considered.ok()) LogWarning("job {}: no window: {}", job_id, considered.error().message);
}

// The error Unavailable means that the database is away.
Status Evaluator::EvaluateOrFail(Connection& connection, const std::vector<RuleTask>& tasks) {
  const RuleTask& first = tasks.front();
  if (first.attempt > kMostAttempts) {  // such a task is claimed alone
    return Fail(connection, first,
                Internal(Format("the evaluation ended its program {} times", kMostAttempts)));
  }
  auto turns = TryEvaluate(connection, tasks);
  if (!turns.ok() && turns.error().code == Code::kUnavailable) return turns.error();
  std::vector<Evaluated> outcomes;
  std::size_t rows = 0;
  Duration lag{};
  Status done;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const bool ok = turns.ok() && (*turns)[i].ok();
    if (ok) {
      Turn& turn = *(*turns)[i];
      rows += turn.rows;
      lag = turn.lag;
      outcomes.push_back(std::move(turn.evaluated));
      continue;
    }
    const Status failed =
        Fail(connection, tasks[i], turns.ok() ? (*turns)[i].error() : turns.error());
    if (done.ok()) done = failed;
  }
  const Status written = Write(connection, outcomes);
  if (written.ok() && !outcomes.empty()) {
    figures_.Change([&](EvaluatorFigures& figures) {
      figures.rows += rows;
      figures.lag = lag;
    });
  }
  return done.ok() ? written : done;
}

Result<std::vector<Result<Turn>>> Evaluator::TryEvaluate(Connection& connection,
                                                         const std::vector<RuleTask>& tasks) {
  try {
    return EvaluateRules(connection, tasks, clock_, options_.evaluation);
  } catch (const std::exception& fault) {
    return Internal(Format("the evaluation failed: {}", Printable(fault.what())));
  }
}

// Writes all outcomes at once; when that fails, one by one, so that an outcome that cannot be
// stored stops no other.
Status Evaluator::Write(Connection& connection, std::span<const Evaluated> outcomes) {
  if (outcomes.empty()) return {};
  const auto lost = FinishRuleTasks(connection, outcomes, options_.public_url);
  if (lost.ok()) {
    figures_.Change([&](EvaluatorFigures& figures) { figures.conflicts += *lost; });
    return {};
  }
  if (lost.error().code == Code::kUnavailable) return lost.error();
  if (outcomes.size() == 1) return Fail(connection, outcomes.front().task, lost.error());
  Status done;
  for (const Evaluated& outcome : outcomes) {
    const Status written = Write(connection, {&outcome, 1});
    if (done.ok()) done = written;
  }
  return done;
}

Status Evaluator::Fail(Connection& connection, const RuleTask& task, const Error& error) {
  LogWarning("rule task {} of job {}: {}", task.task_id, task.job_id, error.message);
  figures_.Change([](EvaluatorFigures& figures) { ++figures.failures; });
  const Status failed = FailRuleTask(connection, task, error.message, options_.public_url);
  const bool conflict = !failed.ok() && failed.error().code == Code::kConflict;
  if (!conflict) return failed;
  figures_.Change([](EvaluatorFigures& figures) { ++figures.conflicts; });
  return {};
}

void Evaluator::Beat(const std::stop_token& stop) {
  while (SleepFor(stop, options_.heartbeat)) RenewAll();
}

void Evaluator::RenewAll() {
  const auto held = held_.Read([](const auto& tasks) { return tasks; });
  if (held.empty()) return;
  auto connection = database_.Acquire();
  if (!connection.ok()) return;
  for (const auto& [task_id, each] : held) {
    if (clock_.Steady() - each.since > options_.longest_hold) continue;
    // A lost task is noticed when its outcome is refused.
    const auto renewed = RenewRuleTask(**connection, each.task, options_.lease);
    if (!renewed.ok()) return;
  }
}

}  // namespace stepscope
