#include "tests/rules/pages/pages.h"

#include "core/model/metric.h"
#include "tests/rules/pages/footprint.h"
#include "tests/rules/pages/picture.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kMade =
    "\nThis page is made from the catalog of rules: `build/dev/tests/rule_pages docs/rules` "
    "([how](../development.md)).\n";

std::string DefaultOf(const Param& param) {
  if (IsRequired(param)) return "must be given";
  if (param.choices.empty()) return Format("{:.10g}", param.fallback);
  return std::string(param.choices[static_cast<std::size_t>(param.fallback)]);
}

std::string RangeOf(const Param& param) {
  if (param.good_text != nullptr) return "a name";
  if (param.choices.empty() && param.most >= 1e15) return "any number";
  if (param.choices.empty()) return Format("{:.10g} to {:.10g}", param.least, param.most);
  std::string choices;
  for (const auto& choice : param.choices)
    choices += Format("{}{}", choices.empty() ? "" : ", ", choice);
  return choices;
}

// Counts of samples may be given as time; see rules/engine/params.h.
std::string UnitOf(const Param& param) {
  if (param.unit == "samples") return "samples, or time such as \"250s\"";
  return std::string(param.unit);
}

std::string Parameters(const RuleType& rule) {
  if (rule.params.empty()) return "It has none.\n";
  std::string text = "| Name | Default | Range | Unit | Meaning |\n|---|---|---|---|---|\n";
  for (const Param& param : rule.params) {
    text += Format("| `{}` | {} | {} | {} | {} |\n", param.name, DefaultOf(param), RangeOf(param),
                   UnitOf(param), param.help);
  }
  return text;
}

std::string StepsText(StepNeed need) {
  switch (need) {
    case StepNeed::kNone:
      return "It needs no steps.\n";
    case StepNeed::kFirst:
      return "Steps are not needed; where a training process reports them, the first one ends the "
             "initialisation, which is not judged.\n";
    case StepNeed::kAllThereAre:
      return "Steps are not needed; where training processes report them, the time before the "
             "first one and after the newest one is not judged.\n";
    case StepNeed::kAll:
      return "All steps of all ranks, with their phases.\n";
  }
  return "";
}

std::string Needs(const RuleType& rule) {
  std::string text = StepsText(rule.steps);
  if (rule.metrics.empty()) return text;
  text += "\n| Metric | Unit | What it is |\n|---|---|---|\n";
  for (const std::string_view name : rule.metrics) {
    const Metric* metric = FindMetric(name);
    text += Format("| `{}` | {} | {} |\n", name, metric == nullptr ? "" : metric->unit,
                   metric == nullptr ? "" : metric->help);
  }
  return text;
}

// How a job gets a rule that it does not have by default.
std::string Given(const RuleType& rule, const Json& parameters) {
  if (rule.name != CustomRule().name) return "";
  const Json one = {{"name", "HotGpu"}, {"rule", rule.name}, {"parameters", parameters}};
  return Format(
      "No job is judged by it unless it is asked for, by a name of your choice: "
      "[how](../rules-parameters.md#your-own-rule-a-threshold-on-any-metric). This one is\n\n"
      "```json\n{}\n```\n\n",
      Dump(one));
}

std::string Page(const RuleType& rule, const Footprint& footprint, const Outcome& outcome) {
  const bool says = !outcome.verdict.sentence.empty();
  return Format(
             "# {0}\n\n{1}\n\n{7}![What {0} sees in a job]({0}.svg)\n\nOf this made job it says: "
             "*{2}*\n\n## When it fires\n\n{3}\n\n## What to do\n\n{4}\n\n## Parameters\n\n{5}\n## "
             "What it needs\n\n{6}",
             rule.name, rule.sentence, says ? outcome.verdict.sentence : footprint.rule, rule.fires,
             rule.advice, Parameters(rule), Needs(rule), Given(rule, footprint.parameters)) +
         std::string(kMade);
}

constexpr std::string_view kWords = R"(
## When rules judge

| Word | Meaning |
|---|---|
| initialisation | The start of a job, which is not judged. It ends with the first training step; when no training process is seen, after `patience` samples. |
| scan | Rules of samples judge once in 60 s of the job's own time, so that watching a job and judging it later count the same. Until such a rule fires for the first time it is also looked at every 5 s: what crosses its threshold is told within seconds. The early scan and the one that is due next count as one. |
| trigger | One scan, or for rules of devices one device in one scan, in which the rule fires. |
| finding | A stretch of time in which it fired: neighbouring triggers are one finding. |
| share | The part of the judged time in which a rule fired. A scan counts by its length, so that a short one at the end of a job counts little; a rhythm fires from its first beat to its newest. What was lost in that time is not in it, but in the severity. |
| window, patience | Numbers of samples, or a time such as `"250s"`, which means the same whatever the interval. |

Rules that compare minutes with each other, such as `Straggler`, or that look for a rhythm or a trend, such as `PeriodicStall` and `MemoryLeak`, judge when the minute is over. Rules of steps judge as steps come.
)";

}  // namespace

std::map<std::string, std::string> RulePages() {
  std::map<std::string, std::string> pages;
  std::vector<Footprint> footprints = HostFootprints();
  for (Footprint& each : StepFootprints()) footprints.push_back(std::move(each));
  std::string index = "# Rules\n\n| Rule | Finds |\n|---|---|\n";
  std::vector<const RuleType*> rules;
  for (const RuleType& rule : Catalog()) rules.push_back(&rule);
  rules.push_back(&CustomRule());
  for (const RuleType* rule : rules) {
    index += Format("| [{0}]({0}.md) | {1} |\n", rule->name, rule->sentence);
    const auto found = std::ranges::find(footprints, rule->name, &Footprint::rule);
    if (found == footprints.end()) continue;
    const Outcome outcome = Judge(rule->name, found->job, found->parameters);
    const std::string name(rule->name);
    pages[name + ".md"] = Page(*rule, *found, outcome);
    pages[name + ".svg"] = Picture(*found, outcome);
  }
  index +=
      "\nParameters of a job's rules, other rules, rules of your own, and what a rule would say "
      "with other parameters: [rules-parameters.md](../rules-parameters.md).\n";
  pages["README.md"] = index + std::string(kWords) + std::string(kMade);
  return pages;
}

}  // namespace stepscope::scenarios
