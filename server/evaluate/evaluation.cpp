#include "server/evaluate/evaluation.h"

#include <utility>

#include "core/base/text.h"
#include "rules/catalog.h"
#include "server/evaluate/standing.h"

namespace stepscope {
namespace {

// A rule of a job, between load and save.
struct RuleRun {
  const RuleType* rule = nullptr;
  RuleStateRow row;
  Watermark watermark;
  std::unique_ptr<Fold> fold;
};

// The job first, so that a job that ended was stored before what is read after it; ranges before
// ranks and steps, so that a tick's steps are there.
Result<JobView> LoadView(Connection& connection, std::int64_t job_id, Time now, Duration silence) {
  auto job = LoadJob(connection, job_id);
  if (!job.ok()) return job.error();
  const auto ranges = ReadTickRanges(connection, job_id);
  if (!ranges.ok()) return ranges.error();
  const auto nodes = ListNodes(connection, job_id);
  if (!nodes.ok()) return nodes.error();
  auto ranks = ListRanks(connection, job_id);
  if (!ranks.ok()) return ranks.error();
  JobFacts facts = FactsOf(*job, *nodes, *ranks);
  return JobView{std::move(*job), std::move(facts), PresenceOf(*nodes, *ranges, now, silence),
                 std::move(*ranks)};
}

Result<RuleRun> LoadRun(Connection& connection, const RuleTask& task, const JobFacts& facts) {
  RuleRun run;
  auto row = LoadRuleState(connection, task.job_id, task.rule_config_id);
  if (!row.ok()) return row.error();
  run.row = std::move(*row);
  run.rule = FindRule(run.row.config.rule);
  if (run.rule == nullptr) {
    return Invalid(Format("rule '{}' is not known here", Printable(run.row.config.rule)));
  }
  const auto params =
      Params::Read(run.rule->name, run.rule->params, run.row.config.parameters, facts.interval);
  if (!params.ok()) return params.error();
  run.fold = run.rule->make(*params, facts);
  if (run.row.state.is_null()) return run;
  Status loaded = run.fold->Load(run.row.state);
  if (loaded.ok()) loaded = LoadFields(run.row.watermark, run.watermark);
  if (!loaded.ok()) {
    return Internal(Format("{}: {}", run.row.config.name, loaded.error().message));
  }
  return run;
}

std::vector<FindingRow> FindingsOf(RuleRun& run) {
  std::vector<FindingRow> rows;
  for (Finding& finding : run.fold->TakeFindings()) {
    FindingRow row;
    row.rule_config_id = run.row.config.rule_config_id;
    row.finding = finding.number;
    row.from_us = ToMicros(finding.from);
    row.to_us = ToMicros(finding.to);
    row.rule_name = run.row.config.name;
    row.node = finding.subject.node;
    row.device = finding.subject.device;
    row.sentence = std::move(finding.sentence);
    row.rank = finding.subject.rank;
    row.evidence = std::move(finding.evidence);
    rows.push_back(std::move(row));
  }
  return rows;
}

// The verdict, with the nodes that it was reached without.
Verdict JudgeWithout(const Fold& fold, const std::vector<NodePresence>& nodes) {
  Verdict verdict = fold.Judge();
  const std::string absence = AbsenceText(nodes);
  if (absence.empty()) return verdict;
  verdict.evidence["absent"] = absence;
  const bool sentence = verdict.sentence.ends_with('.');
  verdict.sentence += (sentence ? " " : ". ") + absence;
  return verdict;
}

Duration NextIn(const NewRows& rows, bool ended, Duration slot) {
  return rows.full || (ended && rows.count > 0) ? Duration::zero() : slot;
}

Evaluated Conclude(RuleRun& run, const RuleTask& task, const JobView& view, bool last, Time now) {
  const Verdict verdict = JudgeWithout(*run.fold, view.nodes);
  const Time end = view.job.ended_us ? FromMicros(*view.job.ended_us) : now;
  const Standing standing = StandingOf(run.row.status, verdict, view.job.status, last, end, now);
  Evaluated evaluated;
  evaluated.task = task;
  evaluated.revision = run.row.revision;
  evaluated.findings = FindingsOf(run);
  evaluated.state = run.fold->Save();
  evaluated.watermark = SaveFields(run.watermark);
  evaluated.verdict = ToJson(verdict, standing.details);
  evaluated.status = standing.status;
  evaluated.detail = standing.details;
  evaluated.at_us = ToMicros(standing.at);
  evaluated.last = last;
  return evaluated;
}

}  // namespace

Result<Turn> EvaluateRule(Connection& connection, const RuleTask& task, Time now,
                          const EvaluationOptions& options) {
  const auto view = LoadView(connection, task.job_id, now, options.silence);
  if (!view.ok()) return view.error();
  auto run = LoadRun(connection, task, view->facts);
  if (!run.ok()) return run.error();
  const bool ended = HasEnded(view->job.status);
  auto horizon = HorizonOf(view->nodes, ended);
  if (horizon && !ended) *horizon -= options.settle;
  auto rows = ReadNewRows(connection, *run->rule, *view, run->watermark, horizon, options.feed);
  if (!rows.ok()) return rows.error();

  // The last turn is one that found nothing new after the job ended.
  const bool last = ended && rows->count == 0;
  FeedRows(*rows, options.feed.scan_interval, last, run->watermark, *run->fold);
  Turn turn;
  turn.evaluated = Conclude(*run, task, *view, last, now);
  turn.evaluated.next_in = NextIn(*rows, ended, options.slot);
  turn.rows = rows->count;
  if (!ended && horizon) turn.lag = std::max(Duration::zero(), now - *horizon);
  return turn;
}

}  // namespace stepscope
