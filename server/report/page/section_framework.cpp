#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "server/report/page/sections.h"
#include "server/report/picture/pictures.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

constexpr double kMuchUnnamed = 25;  // percent of the time, from which the report says so

std::string_view PhaseWords(std::string_view phase) {
  if (phase == "sync") return "waits for the GPU";
  if (phase == "device_to_host") return "copies from the GPU";
  return phase;
}

Markup Phases(const PhaseTotals& totals) {
  Whole all;
  for (const StepFigures::PhaseSum& phase : totals.phases) {
    const std::string name(PhaseWords(phase.phase));
    all.parts.push_back(
        {name, phase.share_percent / 100, FormatDuration(phase.seconds), PhaseCss(phase.phase)});
  }
  return Shares("Time of all steps by phase", {all});
}

Markup Warning(const PhaseTotals& totals) {
  for (const StepFigures::PhaseSum& phase : totals.phases) {
    if (phase.phase != "unnamed" || phase.share_percent <= kMuchUnnamed) continue;
    return Element("p", {{"class", "note"}},
                   Text(Format("{} of the time lies in no phase: name the parts of the step, so "
                               "that the diagnosis can say more.",
                               FormatPercent(phase.share_percent))));
  }
  return {};
}

Markup Ranks(const Report& report) {
  std::vector<std::vector<Markup>> rows;
  for (const RankSummary& rank : report.steps) {
    const StepFigures& steps = rank.steps;
    if (steps.count == 0) continue;
    rows.push_back(
        {Text(Format("rank {}", rank.of.rank)), Text(rank.of.node), Text(Grouped(steps.count))});
    for (const double seconds :
         {steps.mean, steps.max, steps.p99, steps.p95, steps.p50, steps.min}) {
      rows.back().push_back(Text(FormatDuration(seconds)));
    }
  }
  return ScrollTable("Steps by rank",
                     {"Rank", "Node", "Steps", "mean", "max", "p99", "p95", "p50", "min"}, rows);
}

}  // namespace

std::string PhaseCss(std::string_view phase) {
  constexpr std::pair<std::string_view, std::string_view> kCss[] = {
      {"data", "s0"},       {"transfer", "striped s0"},
      {"forward", "s1"},    {"loss", "striped s1"},
      {"backward", "s2"},   {"communication", "striped s2"},
      {"optimizer", "s4"},  {"callback", "striped s4"},
      {"checkpoint", "s3"}, {"other", "striped s3"},
      {"sync", "s5"},       {"device_to_host", "striped s5"}};
  for (const auto& [name, css] : kCss) {
    if (name == phase) return std::string(css);
  }
  return "rest";
}

Markup FrameworkSection(const Report& report) {
  if (report.phases.steps == 0) {
    return Section("framework", "Framework metrics",
                   Element("p",
                           "No steps were reported: the training process was not seen, or it "
                           "has made none yet."));
  }
  const std::string sentence =
      Format("{} of {}, {} in the mean.", CountText(report.phases.steps, "step"),
             CountText(static_cast<std::int64_t>(report.steps.size()), "rank"),
             FormatDuration(report.phases.seconds / static_cast<double>(report.phases.steps)));
  const Markup more =
      report.ranks_left_out == 0
          ? Markup()
          : Element("p", {{"class", "note"}},
                    Text(Format("{} more ranks are not shown.", report.ranks_left_out)));
  return Section("framework", "Framework metrics",
                 Element("p", {{"class", "sentence"}}, Text(sentence)) + Phases(report.phases) +
                     Warning(report.phases) + Ranks(report) + more);
}

}  // namespace stepscope
