#include "server/evaluate/rule_run.h"

#include <utility>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/wire/bytes.h"
#include "rules/catalog/catalog.h"
#include "server/store/jobs/earlier_runs.h"

namespace stepscope {
namespace {

constexpr int kMostRuns = 12;  // of which the rule takes those that are like the job

// The time from which on samples are stored, when earlier ones were removed.
std::optional<Time> RemovedUntil(const JobRow& job) {
  const std::int64_t began_us = job.started_us.value_or(job.created_us);
  if (job.samples_from_us.value_or(0) <= began_us) return std::nullopt;
  return FromMicros(*job.samples_from_us);
}

// Makes a new fold, which knows the time until which samples were removed, and earlier runs.
Status Begin(RuleRun& run, const JobView& view, std::vector<EarlierRun> earlier_runs = {}) {
  JobFacts facts = view.facts;
  facts.removed_until = run.watermark.removed_until;
  facts.earlier_runs = std::move(earlier_runs);
  const auto params =
      Params::Read(run.rule->name, run.rule->params, run.row.config.parameters, facts.interval);
  if (!params.ok()) return params.error();
  run.needs = NeedsOf(*run.rule, *params);
  run.fold = run.rule->make(*params, facts);
  return {};
}

struct Saved {
  std::string_view watermark, fold;
};
Result<Saved> Parts(std::string_view saved) {
  ByteReader reader(saved);
  const std::string_view watermark = reader.TakeText(reader.left());
  if (!reader.ok()) return Invalid("state: the watermark is cut");
  return Saved{watermark, reader.rest()};
}

// On an error the watermark may be read in part; its count of starts then is 0.
Status Load(RuleRun& run, const JobView& view) {
  if (run.row.by_older) return Invalid("an older version of the program saved it");
  const auto saved = Parts(run.row.saved);
  if (!saved.ok()) return saved.error();
  const Status read = LoadFields(saved->watermark, run.watermark);
  if (!read.ok()) return read;
  if (const Status begun = Begin(run, view); !begun.ok()) return begun;
  const Status loaded = run.fold->Load(saved->fold);
  if (loaded.ok()) run.watermark.starts_anew = 0;
  return loaded;
}

void AddSentence(Verdict& verdict, const std::string& text) {
  if (text.empty()) return;
  const bool sentence = verdict.sentence.ends_with('.');
  verdict.sentence += (sentence ? " " : ". ") + text;
}

}  // namespace

std::string SaveRun(const RuleRun& run) {
  std::string saved;
  PutText(saved, SaveFields(run.watermark));
  return saved + run.fold->Save();
}

Result<Watermark> WatermarkOf(std::string_view saved) {
  const auto parts = Parts(saved);
  if (!parts.ok()) return parts.error();
  Watermark watermark;
  const Status read = LoadFields(parts->watermark, watermark);
  return read.ok() ? Result<Watermark>(watermark) : Result<Watermark>(read.error());
}

Result<RuleRun> StartRun(RuleStateRow row, const JobView& view) {
  RuleRun run{FindRule(row.config.rule), std::move(row), {}, nullptr, {}, false, false};
  const std::string& name = run.row.config.name;
  if (run.rule == nullptr) {
    return Invalid(Format("rule '{}' is not known here", Printable(run.row.config.rule)));
  }
  if (!run.row.saved.empty() || run.row.by_older) {
    const Status loaded = Load(run, view);
    if (loaded.ok()) return run;
    const std::int64_t before = run.watermark.starts_anew;
    if (before >= kMostStartsAnew) {
      return Internal(
          Format("{}: {}; it was judged anew {} times", name, loaded.error().message, before));
    }
    LogWarning("job {}: {}: {}; it is judged anew from what is stored", run.row.config.job_id, name,
               loaded.error().message);
    run.watermark = Watermark{};
    run.watermark.starts_anew = run.row.by_older ? before : before + 1;
    run.anew = true;
  }
  run.begins = true;
  run.watermark.removed_until = RemovedUntil(view.job);
  if (const Status begun = Begin(run, view); !begun.ok()) return begun.error();
  return run;
}

Status KnowEarlierRuns(Connection& connection, const JobView& view, RuleRun& run) {
  if (!run.begins || !run.rule->compares_runs) return {};
  auto paces = ListPaces(connection, view.job, run.rule->name, kMostRuns);
  if (!paces.ok()) return paces.error();
  if (paces->empty()) return {};
  std::vector<EarlierRun> runs;
  for (RunPace& pace : *paces) runs.push_back({pace.step_s, std::move(pace.setup)});
  return Begin(run, view, std::move(runs));
}

Verdict JudgeRun(const RuleRun& run, const JobView& view) {
  Verdict verdict = Judge(*run.rule, *run.fold);
  if (const auto& removed = run.watermark.removed_until) {
    const std::string until = ToRfc3339(*removed);
    verdict.evidence["removed_until"] = until;
    AddSentence(verdict,
                Format("What was measured before {} was removed and is not judged.", until));
  }
  const std::string absence = AbsenceText(view.nodes);
  if (!absence.empty()) verdict.evidence["absent"] = absence;
  AddSentence(verdict, absence);
  return verdict;
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

}  // namespace stepscope
