#include "server/evaluate/preview.h"

#include <map>
#include <utility>

#include "server/evaluate/rule_run.h"
#include "server/evaluate/rule_status_change.h"

namespace stepscope {
namespace {

// Shows the stored data to the fold in pieces, each as large as one turn; a piece is freed before
// the next is read.
Status ShowAll(Connection& connection, const JobView& view, const PreviewOptions& options,
               const Clock& clock, RuleRun& run, Preview& preview,
               std::map<std::int64_t, FindingRow>& findings) {
  const SteadyTime start = clock.Steady();
  const bool ended = HasEnded(view.job.status);
  const auto horizon = SettledHorizon(view, options.evaluation.settle);
  const FeedOptions& feed = options.evaluation.feed;
  while (!preview.complete) {
    JobReads reads(connection, view.job.job_id, run.needs.metrics);
    auto rows = ReadNewRows(reads, run.needs, view, run.watermark, horizon, feed);
    if (!rows.ok()) return rows.error();
    const bool last = ended && rows->count == 0;
    preview.complete = last || (!ended && !rows->full);
    preview.rows += rows->count;
    if (rows->until) preview.seen = rows->until;
    FeedRows(*rows, feed.scan_interval, last, run.watermark, *run.fold);
    for (FindingRow& row : FindingsOf(run)) findings[row.finding] = std::move(row);
    if (clock.Steady() - start >= options.most) break;
  }
  return {};
}

}  // namespace

Result<Preview> PreviewRule(Connection& connection, const RuleConfigRow& config, const Clock& clock,
                            const PreviewOptions& options, std::span<const RuleNow> others) {
  const Time now = clock.Now();
  const auto view = LoadView(connection, config.job_id, now, options.evaluation.silence);
  if (!view.ok()) return view.error();
  RuleStateRow row;
  row.config = config;
  auto run = StartRun(std::move(row), *view);
  if (!run.ok()) return run.error();
  const Status known = KnowEarlierRuns(connection, *view, *run);
  if (!known.ok()) return known.error();
  Preview preview;
  std::map<std::int64_t, FindingRow> findings;
  const Status folded = ShowAll(connection, *view, options, clock, *run, preview, findings);
  if (!folded.ok()) return folded.error();
  for (auto& [number, finding] : findings) preview.findings.push_back(std::move(finding));
  Verdict verdict = JudgeRun(*run, *view);
  if (run->rule->sums_up) {
    RuleTask itself;
    itself.job_id = config.job_id;
    itself.rule_config_id = config.rule_config_id;
    const auto read = ReadOtherRules(connection, itself, others);
    if (!read.ok()) return read.error();
    SumUp(*read, verdict);
  }
  const bool last = HasEnded(view->job.status) && preview.complete;
  const Time end = view->job.ended_us ? FromMicros(*view->job.ended_us) : now;
  const RuleStatusChange change =
      StatusChangeOf(RuleStatus::kInProgress, verdict, view->job.status, last, end, now);
  preview.status = change.status;
  preview.now = {config.rule_config_id, change.status, ToMicros(change.at), verdict.active,
                 verdict.share};
  preview.verdict = ToJson(verdict, change.details);
  return preview;
}

}  // namespace stepscope
