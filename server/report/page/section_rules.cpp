#include <algorithm>

#include "core/base/json_members.h"
#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "server/report/page/sections.h"
#include "server/report/picture/pictures.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

std::string StatusOf(const RuleSection& rule) {
  return TextOf(rule.answer, "rule_evaluation_status");
}

// "not judged" says more than the status that the job's end left.
std::string StandOf(const RuleSection& rule) {
  const bool open =
      rule.status == RuleStatus::kInProgress || rule.status == RuleStatus::kNoIssuesFound;
  return open && !rule.judged ? "not judged" : StatusOf(rule);
}

std::string ShareOf(const RuleSection& rule) {
  const OrderedJson& share = rule.answer["share"];
  return share.is_number() ? FormatPercent(share.get<double>() * 100) : std::string(kNothing);
}

Markup Summary(const Report& report) {
  std::vector<std::vector<Markup>> rows;
  for (const RuleSection& rule : report.rules) {
    const Markup link = Element("a", {{"href", "#" + RuleAnchor(report, rule)}}, Text(rule.name));
    const std::string severity = TextOf(rule.answer, "severity");
    rows.push_back({link, Chip(StandOf(rule)), Text(Grouped(rule.triggers)),
                    Text(Grouped(rule.findings_total)), Text(ShareOf(rule)),
                    severity.empty() ? Text(kNothing) : Chip(severity), Text(rule.looks_for)});
  }
  return ScrollTable(
      "Rules", {"Rule", "Status", "Triggers", "Findings", "Share", "Severity", "Looks for"}, rows);
}

std::string ValueOf(const UsedParameter& used) {
  if (used.samples) {
    return Format("{} samples ({})", Grouped(*used.samples), FormatDuration(*used.seconds));
  }
  if (used.value.is_number()) {
    const std::string unit = used.unit.empty() ? "" : " " + used.unit;
    return FormatNumber(used.value.get<double>()) + unit;
  }
  return used.value.is_string() ? used.value.get<std::string>() : Dump(used.value);
}

// The parameters in one line; their meaning unfolds.
Markup Parameters(const RuleSection& rule) {
  if (rule.parameters.empty()) return {};
  std::vector<std::vector<Markup>> rows;
  std::string all;
  const std::string_view begin = rule.judged ? "Judged with" : "It would be judged with";
  for (const UsedParameter& used : rule.parameters) {
    all += Format("{} {} {}", all.empty() ? begin : ",", used.name, ValueOf(used));
    rows.push_back({Text(used.name), Text(ValueOf(used)), Text(used.help)});
  }
  const Markup table =
      ScrollTable("Parameters of " + rule.name, {"Parameter", "Value", "What it is"}, rows);
  return Element("p", {{"class", "note"}}, Text(all + ".")) +
         Element("details", Element("summary", "What the parameters are") + table);
}

std::string SubjectOf(const FindingRow& finding) {
  std::string words = finding.node;
  if (!finding.device.empty()) words += (words.empty() ? "device " : ", device ") + finding.device;
  if (finding.rank >= 0) words += Format("{}rank {}", words.empty() ? "" : ", ", finding.rank);
  return words.empty() ? "the job" : words;
}

Markup Findings(const RuleSection& rule) {
  if (rule.findings.empty()) return {};
  std::vector<std::vector<Markup>> rows;
  for (const FindingRow& finding : rule.findings) {
    const double seconds = static_cast<double>(finding.to_us - finding.from_us) / 1e6;
    rows.push_back({Text(FormatTime(finding.from_us)), Text(FormatDuration(seconds)),
                    Text(SubjectOf(finding)), Text(finding.sentence)});
  }
  const std::int64_t more = rule.findings_total - static_cast<std::int64_t>(rule.findings.size());
  std::string title = more > 0 ? Format("The longest {} of {} findings", rule.findings.size(),
                                        Grouped(rule.findings_total))
                               : CountText(rule.findings_total, "finding");
  return Element("h4", title) +
         ScrollTable("Findings of " + rule.name, {"From", "For", "Where", "What"}, rows);
}

// The status's own words where they say more than the verdict: for a stopped job, or an error.
Markup Sentence(const RuleSection& rule) {
  const std::string verdict = TextOf(rule.answer["verdict"], "sentence");
  const std::string details = TextOf(rule.answer, "status_details");
  std::string text = rule.judged ? verdict : "Not judged: " + verdict;
  Markup all = Element("p", {{"class", "sentence"}}, Text(text));
  const bool more = !details.empty() && details.find(verdict) == details.npos;
  if (more) all += Element("p", {{"class", "note"}}, Text(details));
  return all;
}

Markup Advice(const RuleSection& rule) {
  const std::string advice = TextOf(rule.answer["evidence"], "advice");
  if (advice.empty() || rule.status != RuleStatus::kIssuesFound) return {};
  return Element("p", {{"class", "advice"}}, Element("b", "What to do: ") + Text(advice));
}

// A rule that is active when the job ends fired to its end.
std::string_view ActiveWords(const Report& report, bool active) {
  if (report.running) return active ? "fires now" : "does not fire any more";
  return active ? "fired to the end" : "did not fire in the end";
}

Markup RuleStatusChange(const Report& report, const RuleSection& rule) {
  Markup chips = Chip(StandOf(rule));
  const std::string severity = TextOf(rule.answer, "severity");
  if (rule.status == RuleStatus::kIssuesFound) {
    if (!severity.empty()) chips += Text(" ") + Chip(severity);
    const bool active = rule.answer["active"] == true;
    const std::string triggers = rule.triggers > 0 ? " · " + CountText(rule.triggers, "trigger")
                                                   : "";  // the rule may not count triggers
    chips += Text(Format(" {}{} · {} of the judged time", ActiveWords(report, active), triggers,
                         ShareOf(rule)));
  }
  return Element("p", {{"class", "chips"}}, chips);
}

// For rules that only measure and never fire: the section that has their measurements.
constexpr struct {
  std::string_view rule, anchor, title;
} kMeasured[] = {{"OverallSystemUsage", "#usage", "System usage"},
                 {"OverallFrameworkMetrics", "#framework", "Framework metrics"}};

Markup Numbers(const RuleSection& rule) {
  if (!rule.judged) return {};
  for (const auto& [name, anchor, title] : kMeasured) {
    if (name != rule.rule) continue;
    const Markup link = Element("a", {{"href", std::string(anchor)}}, Text(title));
    return Element("p", {{"class", "note"}}, Text("Its numbers stand in ") + link + Text("."));
  }
  return EvidenceBlock(rule.answer["evidence"], rule.status == RuleStatus::kIssuesFound);
}

// The section of a rule that found nothing is folded: the page is about findings.
Markup Picture(const Report& report, const RuleSection& rule) {
  const Markup picture = rule.judged ? RulePicture(report, rule) : Markup();
  if (picture.empty() || rule.status == RuleStatus::kIssuesFound) return picture;
  return Element("details", Element("summary", "Picture") + picture);
}

}  // namespace

std::string RuleAnchor(const Report& report, const RuleSection& rule) {
  return Format("rule-{}", &rule - report.rules.data());
}

Markup RuleBlock(const Report& report, const RuleSection& rule) {
  const std::string id = RuleAnchor(report, rule);
  const Markup lead =
      Element("h3", {{"id", id + "-title"}}, Text(rule.name)) + RuleStatusChange(report, rule) +
      Element("p", {{"class", "note"}}, Text(rule.looks_for)) + Sentence(rule) + Advice(rule);
  // On paper the heading stays with the section that follows.
  Markup inside = Element("div", {{"class", "lead"}}, lead) + Picture(report, rule);
  inside += Findings(rule);
  inside += Numbers(rule);
  return Element("section", {{"id", id}, {"class", "rule"}, {"aria-labelledby", id + "-title"}},
                 inside + Parameters(rule));
}

Markup RulesSection(const Report& report) {
  if (report.rules.empty()) {
    return Section("rules", "Rules summary", Element("p", "The job is judged by no rule."));
  }
  const auto fired =
      std::ranges::count(report.rules, RuleStatus::kIssuesFound, &RuleSection::status);
  const auto unjudged = std::ranges::count(report.rules, false, &RuleSection::judged);
  const std::string sentence =
      Format("{} of {} found issues; {} had too little to judge by.", fired,
             CountText(static_cast<std::int64_t>(report.rules.size()), "rule"), unjudged);
  const Markup counted = Element(
      "p", {{"class", "note"}},
      Text("Counted are all rules that the job is judged by, but ProfilerReport: it sums up the "
           "others, and is the diagnosis. OverallSystemUsage and OverallFrameworkMetrics only "
           "measure, and never find issues."));
  Markup each;
  for (const RuleSection& rule : report.rules) each += RuleBlock(report, rule);
  return Section(
             "rules", "Rules summary",
             Element("p", {{"class", "sentence"}}, Text(sentence)) + counted + Summary(report)) +
         Section("each-rule", "Each rule", each);
}

}  // namespace stepscope
