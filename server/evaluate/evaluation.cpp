#include "server/evaluate/evaluation.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "server/evaluate/rule_run.h"
#include "server/evaluate/rule_status_change.h"
#include "server/evaluate/summing_up.h"

namespace stepscope {
namespace {

Result<RuleRun> StartTask(const RuleTask& task, std::span<RuleStateRow> rows, const JobView& view) {
  const auto row = std::ranges::find(
      rows, task.rule_config_id, [](const RuleStateRow& of) { return of.config.rule_config_id; });
  if (row != rows.end()) return StartRun(std::move(*row), view);
  return NotFound(Format("rule {} of job {} not found", task.rule_config_id, task.job_id));
}

std::vector<std::int64_t> ConfigIds(std::span<const RuleTask> tasks) {
  std::vector<std::int64_t> ids;
  for (const RuleTask& task : tasks) ids.push_back(task.rule_config_id);
  return ids;
}

Duration NextIn(const NewRows& rows, bool ended, Duration slot) {
  return rows.full || (ended && rows.count > 0) ? Duration::zero() : slot;
}

Evaluated Conclude(RuleRun& run, const RuleTask& task, const JobView& view,
                   const std::optional<OtherRules>& others, bool last, Time now) {
  Verdict verdict = JudgeRun(run, view);
  if (others) SumUp(*others, verdict);
  const Time end = view.job.ended_us ? FromMicros(*view.job.ended_us) : now;
  const RuleStatus before = KeptStatus(*run.rule, run.row.status, last);
  const RuleStatusChange change = StatusChangeOf(before, verdict, view.job.status, last, end, now);
  Evaluated evaluated;
  evaluated.task = task;
  evaluated.revision = run.row.revision;
  evaluated.findings = FindingsOf(run);
  evaluated.saved = SaveRun(run);
  evaluated.verdict = ToJson(verdict, change.details);
  evaluated.status = change.status;
  evaluated.detail = change.details;
  evaluated.at_us = ToMicros(change.at);
  evaluated.last = last;
  evaluated.quiet = run.rule->sums_up;
  evaluated.anew = run.anew;
  return evaluated;
}

RuleNow NowOf(const Evaluated& evaluated) {
  return {evaluated.task.rule_config_id, evaluated.status, evaluated.at_us,
          evaluated.verdict.value("active", false), evaluated.verdict.value("share", 0.0)};
}

// The parts of a turn that all rules of the job share.
struct JobTurn {
  const JobView& view;
  JobReads& reads;
  std::optional<Time> horizon;
  const Clock& clock;
  Time now{};
  const EvaluationOptions& options;
  Connection& connection;
  std::vector<RuleNow> turns;  // rules that had their turn
};

Result<Turn> TakeTurn(RuleRun& run, const RuleTask& task, JobTurn& job) {
  const bool ended = HasEnded(job.view.job.status);
  auto rows =
      ReadNewRows(job.reads, run.needs, job.view, run.watermark, job.horizon, job.options.feed);
  if (!rows.ok()) return rows.error();
  std::optional<OtherRules> others;
  if (run.rule->sums_up) {
    auto read = ReadOtherRules(job.connection, task, job.turns);
    if (!read.ok()) return read.error();
    others = std::move(*read);
  }
  // The last turn is the first that finds nothing new after the job ended.
  const bool last = ended && rows->count == 0 && (!others || others->ended);
  const SteadyTime began = job.clock.Steady();
  FeedRows(*rows, job.options.feed.scan_interval, last, run.watermark, *run.fold);
  const Duration took = job.clock.Steady() - began;
  if (took > job.options.longest_turn) {
    return Internal(Format("{} took {:.0f} s for {} ticks and steps, more than {}",
                           run.row.config.name, ToSeconds(took), rows->count,
                           ToText(job.options.longest_turn)));
  }
  Turn turn;
  turn.evaluated = Conclude(run, task, job.view, others, last, job.now);
  turn.evaluated.behind = rows->full;
  turn.evaluated.next_in = NextIn(*rows, ended, job.options.slot);
  turn.rows = rows->count;
  job.turns.push_back(NowOf(turn.evaluated));
  if (!ended && job.horizon) turn.lag = std::max(Duration::zero(), job.now - *job.horizon);
  return turn;
}

// JSON and containers throw; one rule's fault must not end the others.
template <typename Call>
auto Caught(Call&& call) -> decltype(call()) {
  try {
    return call();
  } catch (const std::exception& fault) {
    return Internal(Format("the evaluation failed: {}", Printable(fault.what())));
  }
}

std::vector<std::string> MetricsOf(std::span<const Result<RuleRun>> runs) {
  std::set<std::string> metrics;
  for (const auto& run : runs) {
    if (run.ok()) metrics.insert(run->needs.metrics.begin(), run->needs.metrics.end());
  }
  return {metrics.begin(), metrics.end()};
}

// The order of the turns: rules that sum up others come last.
std::vector<std::size_t> Order(std::span<const Result<RuleRun>> runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_partition(
      order, [&](std::size_t i) { return !runs[i].ok() || !runs[i]->rule->sums_up; });
  return order;
}

}  // namespace

Result<std::vector<Result<Turn>>> EvaluateRules(Connection& connection,
                                                std::span<const RuleTask> tasks, const Clock& clock,
                                                const EvaluationOptions& options) {
  const std::int64_t job_id = tasks.front().job_id;
  const Time now = clock.Now();
  const auto view = LoadView(connection, job_id, now, options.silence);
  if (!view.ok()) return view.error();
  auto rows = LoadRuleStates(connection, job_id, ConfigIds(tasks));
  if (!rows.ok()) return rows.error();
  std::vector<Result<RuleRun>> runs;
  for (const RuleTask& task : tasks) {
    runs.push_back(Caught([&] { return StartTask(task, *rows, *view); }));
    if (!runs.back().ok()) continue;
    const Status known = KnowEarlierRuns(connection, *view, *runs.back());
    if (!known.ok()) return known.error();
  }
  const auto horizon = SettledHorizon(*view, options.settle);
  JobReads reads(connection, job_id, MetricsOf(runs));
  JobTurn job{*view, reads, horizon, clock, now, options, connection, {}};
  std::vector<Result<Turn>> turns(tasks.size(), Result<Turn>(Turn()));
  for (const std::size_t i : Order(runs)) {
    if (runs[i].ok()) {
      turns[i] = Caught([&] { return TakeTurn(*runs[i], tasks[i], job); });
    } else {
      turns[i] = runs[i].error();
    }
    const bool away = !turns[i].ok() && turns[i].error().code == Code::kUnavailable;
    if (away) return turns[i].error();
  }
  return turns;
}

}  // namespace stepscope
