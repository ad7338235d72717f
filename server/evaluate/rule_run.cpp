#include "server/evaluate/rule_run.h"

#include <exception>
#include <utility>

#include "core/base/log.h"
#include "core/base/text.h"
#include "rules/catalog.h"

namespace stepscope {
namespace {

// From where on samples are stored, when there were earlier ones.
std::optional<Time> RemovedUntil(const JobRow& job) {
  const std::int64_t began_us = job.started_us.value_or(job.created_us);
  if (job.samples_from_us.value_or(0) <= began_us) return std::nullopt;
  return FromMicros(*job.samples_from_us);
}

// A fold that knows nothing but what was removed before it could see it.
Status Begin(RuleRun& run, const JobView& view) {
  JobFacts facts = view.facts;
  facts.removed_until = run.watermark.removed_until;
  const auto params =
      Params::Read(run.rule->name, run.rule->params, run.row.config.parameters, facts.interval);
  if (!params.ok()) return params.error();
  run.needs = NeedsOf(*run.rule, *params);
  run.fold = run.rule->make(*params, facts);
  return {};
}

Status Load(RuleRun& run, const JobView& view) {
  if (const Status read = LoadFields(run.row.watermark, run.watermark); !read.ok()) return read;
  if (const Status begun = Begin(run, view); !begun.ok()) return begun;
  Status loaded;
  try {
    loaded = run.fold->Load(run.row.state);
  } catch (const std::exception& fault) {  // JSON of another kind than the fold takes for granted
    return Invalid(Format("state: {}", Printable(fault.what())));
  }
  if (loaded.ok()) run.watermark.starts_anew = 0;
  return loaded;
}

// How often it was so already; what cannot be read counts as none.
std::int64_t StartsAnew(const Json& watermark) {
  const auto count = watermark.find("starts_anew");
  const bool known = count != watermark.end() && count->is_number_integer();
  return known ? count->get<std::int64_t>() : 0;
}

void AddSentence(Verdict& verdict, const std::string& text) {
  if (text.empty()) return;
  const bool sentence = verdict.sentence.ends_with('.');
  verdict.sentence += (sentence ? " " : ". ") + text;
}

}  // namespace

Result<RuleRun> StartRun(RuleStateRow row, const JobView& view) {
  RuleRun run{FindRule(row.config.rule), std::move(row), {}, nullptr, {}, false};
  const std::string& name = run.row.config.name;
  if (run.rule == nullptr) {
    return Invalid(Format("rule '{}' is not known here", Printable(run.row.config.rule)));
  }
  if (!run.row.state.is_null()) {
    const Status loaded = Load(run, view);
    if (loaded.ok()) return run;
    const std::int64_t before = StartsAnew(run.row.watermark);
    if (before >= kMostStartsAnew) {
      return Internal(
          Format("{}: {}; it was judged anew {} times", name, loaded.error().message, before));
    }
    LogWarning("job {}: {}: {}; it is judged anew from what is stored", run.row.config.job_id, name,
               loaded.error().message);
    run.watermark = Watermark{};
    run.watermark.starts_anew = before + 1;
    run.anew = true;
  }
  run.watermark.removed_until = RemovedUntil(view.job);
  if (const Status begun = Begin(run, view); !begun.ok()) return begun.error();
  return run;
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
