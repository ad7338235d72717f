#include "core/base/json_members.h"
#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "server/report/page/sections.h"
#include "server/report/picture/pictures.h"
#include "server/report/picture/svg.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

std::string NumberOf(const OrderedJson& row, const char* key, std::string_view behind) {
  const auto found = row.find(key);
  if (found == row.end() || !found->is_number()) return std::string(kNothing);
  return Format("{:.2f}{}", found->get<double>(), behind);
}

std::string Causing(const OrderedJson& row) {
  const std::string suspect = TextOf(row, "suspect");
  const auto stage = row.find("stage");
  const bool staged = stage != row.end() && stage->is_number();
  if (suspect.empty()) return std::string(kNothing);
  return staged ? Format("{}, stage {}", suspect, stage->get<int>()) : suspect;
}

Markup BudgetTable(const OrderedJson& budget, bool costs) {
  std::vector<std::vector<Markup>> rows;
  for (const OrderedJson& row : budget) {
    const double share = row.value("share", 0.0);
    Svg bar(1'000, 16, "strip", Format("{} {:.1f} %", TextOf(row, "words"), share * 100));
    bar.Rect(0, 0, 1'000, 16, "ground");
    bar.Rect(0, 0, share * 1'000, 16, TextOf(row, "cause") == "busy" ? "s0" : "s1");
    rows.push_back({Text(TextOf(row, "words")), bar.Take(), Text(FormatPercent(share * 100)),
                    Text(FormatDuration(row.value("seconds", 0.0))),
                    Text(NumberOf(row, "speed_up", " x")), Text(Causing(row))});
    if (costs) rows.back().push_back(Text(NumberOf(row, "cost", "")));
  }
  std::vector<std::string> heads = {
      "Time", "Of all of it", "Share", "GPU or rank time", "Fastest without it", "Suspect"};
  if (costs) heads.push_back("Cost");
  return ScrollTable("Where the time went", heads, rows);
}

Markup Advice(const OrderedJson& budget, double threshold) {
  Markup list;
  for (const OrderedJson& row : budget) {
    const std::string advice = TextOf(row, "advice");
    if (advice.empty() || row.value("share", 0.0) * 100 <= threshold) continue;
    Markup item = Element("b", TextOf(row, "words") + ": ") + Text(advice);
    for (const OrderedJson& support : row["support"]) {
      item += Element(
          "p", {{"class", "note"}},
          Text(TextOf(support, "rule_configuration_name") + ": " + TextOf(support, "sentence")));
    }
    list += Element("li", item);
  }
  return list.empty() ? Markup() : Element("ol", {{"class", "advice"}}, list);
}

// What the budget was judged by.
std::string Judges(const OrderedJson& diagnosis) {
  const std::string confidence = TextOf(diagnosis, "confidence");
  if (confidence == "host only") return "what the hosts showed: no steps were seen";
  if (confidence == "windows only")
    return "windows of traces alone: the time is that of their steps";
  if (confidence == "steps seen in part")
    return "the phases of the steps, but for what is named as not seen, and what the hosts showed";
  if (confidence != "few steps") return "the phases of the steps and what the hosts showed";
  const auto steps = diagnosis.find("steps");
  const std::int64_t seen = steps != diagnosis.end() && steps->is_number() ? steps->get<int>() : 0;
  return Format(
      "the phases of {} after the first of each rank and what the hosts showed; fewer than 20 "
      "steps "
      "are too few to be sure",
      CountText(seen, "step"));
}

std::string Ground(const OrderedJson& diagnosis) {
  const auto seconds = diagnosis.find("total_seconds");
  if (seconds == diagnosis.end() || !seconds->is_number()) return "";
  const bool gpus = TextOf(diagnosis, "unit") == "gpu_seconds";
  return Format("The rows add up to {} of {}. Judged by {}.",
                FormatDuration(seconds->get<double>()),
                gpus ? "all GPUs together" : "the steps of all ranks together", Judges(diagnosis));
}

// By whose clock the time was divided, and how much of the steps is told by name.
std::string Clock(const OrderedJson& diagnosis) {
  const std::string clock = TextOf(diagnosis, "clock");
  if (clock.empty()) return "";
  const bool gpus = TextOf(diagnosis, "unit") == "gpu_seconds";
  std::string text = Format("{} {}.", gpus ? "Idle time of the GPUs is measured by" : "Measured by",
                            clock == "gpu" ? "the GPU's own clock" : "the host's clock");
  const auto named = diagnosis.find("named_share");
  if (named != diagnosis.end() && named->is_number()) {
    text += Format(" Phases with a name cover {} of the step time.",
                   FormatPercent(named->get<double>() * 100));
  }
  return text;
}

Markup NotSeen(const OrderedJson& diagnosis) {
  Markup list;
  for (const OrderedJson& sentence : diagnosis["missing"]) {
    if (sentence.is_string()) list += Element("li", sentence.get<std::string>());
  }
  return list.empty() ? Markup() : Element("h3", "What is not seen") + Element("ul", list);
}

}  // namespace

Markup DiagnosisSection(const Report& report) {
  const OrderedJson& diagnosis = report.diagnosis;
  Markup inside = Element("p", {{"class", "sentence"}}, Text(TextOf(diagnosis, "sentence")));
  const std::string clock = Clock(diagnosis);
  if (!clock.empty()) inside += Element("p", {{"class", "note"}}, Text(clock));
  const OrderedJson& budget = diagnosis["budget"];
  if (!budget.empty()) {
    bool costs = false;
    for (const OrderedJson& row : budget) costs |= row["cost"].is_number();
    const auto threshold = diagnosis.find("threshold");
    inside += BudgetTable(budget, costs) +
              Advice(budget, threshold->is_number() ? threshold->get<double>() : 0) +
              Element("p", {{"class", "note"}}, Text(Ground(diagnosis)));
  }
  return Section("diagnosis", "Diagnosis: where the time went", inside + NotSeen(diagnosis));
}

Markup MethodSection(const Report& report) {
  std::vector<std::vector<Markup>> rows;
  for (const MethodRow& row : Method()) {
    rows.push_back({Text(row.number), Text(row.formula), Element("code", row.source)});
  }
  const std::string calls = Format(
      "Calls stand under {}/api/v1 and are described in openapi.yaml; {} is this report as JSON.",
      report.url.substr(0, report.url.find("/jobs/")), "/jobs/" + report.job.name + "/report");
  return Section("method", "Method",
                 ScrollTable("Method", {"Number", "Formula", "Where to read it"}, rows) +
                     Element("p", {{"class", "note"}}, Text(calls)));
}

}  // namespace stepscope
