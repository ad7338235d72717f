#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "server/report/page/sections.h"
#include "server/report/picture/pictures.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

Markup Fact(std::string_view name, const Markup& value) {
  return Element("div", Element("dt", name) + Element("dd", value));
}

Markup Fact(std::string_view name, const std::string& value) {
  return Fact(name, Text(value));
}

std::string Hardware(const Report& report) {
  std::string text = CountText(static_cast<std::int64_t>(report.nodes.size()), "node") + ", " +
                     CountText(static_cast<std::int64_t>(report.Gpus()), "GPU") + ", " +
                     CountText(static_cast<std::int64_t>(report.ranks), "rank");
  for (const std::string& framework : report.frameworks) text += ", " + framework;
  return text;
}

Markup AsOf(const Report& report) {
  const std::string text =
      report.running ? Format("As of {}, still running.", FormatTime(report.as_of_us))
                     : Format("Of the whole job, which ended at {}.", FormatTime(report.as_of_us));
  return Element("p", {{"class", report.running ? "live" : ""}}, Text(text));
}

Markup VerdictChip(const Report& report) {
  if (report.verdict == JobVerdict::kUnknown) return Text(" ") + Chip("not judged");
  return Text(" ") + Chip(report.verdict == JobVerdict::kIssues ? "issues found" : "no issues");
}

Markup Title(const Report& report) {
  const Markup link = Element("a", {{"href", report.url}}, Text("The job's page"));
  return Element(
      "header",
      Element("p", {{"class", "note"}}, Text("Stepscope report")) + Element("h1", report.job.name) +
          Element("p", {{"class", "chips"}},
                  Chip(ToText(report.job.status)) + VerdictChip(report)) +
          AsOf(report) + Element("p", {{"class", "note"}}, Text(Hardware(report) + " · ") + link));
}

// "310 s, 34.4 %".
std::string PartWords(const std::optional<double>& seconds, double whole) {
  if (!seconds) return std::string(kNothing);
  return Format("{}, {}", FormatDuration(*seconds),
                FormatPercent(whole > 0 ? 100 * *seconds / whole : 0));
}

std::string MaybeTime(const std::optional<std::int64_t>& at_us) {
  return at_us ? FormatTime(*at_us) : std::string(kNothing);
}

Markup Facts(const Report& report) {
  const JobTimes& times = report.times;
  const double whole = times.Seconds();
  Markup facts = Fact("Start", FormatTime(times.from_us));
  facts += Fact("End", times.ended ? FormatTime(times.to_us) : "still running");
  facts += Fact("Duration", FormatDuration(whole));
  facts += Fact("First step began", MaybeTime(times.loop_from_us));
  facts += Fact(times.ended ? "Last step ended" : "Newest step ended", MaybeTime(times.loop_to_us));
  facts += Fact("Initialisation", PartWords(times.Initialisation(), whole));
  facts += Fact("Training loop", PartWords(times.Loop(), whole));
  if (times.Evaluation().value_or(0) > 0) {
    facts += Fact("Evaluations in it", PartWords(times.Evaluation(), whole));
  }
  facts += Fact("Finalisation",
                times.ended ? PartWords(times.Finalisation(), whole) : "not before it ends");
  return Element("dl", {{"class", "facts"}}, facts);
}

Markup Parts(const Report& report) {
  const JobTimes& times = report.times;
  const double whole = times.Seconds();
  if (!times.Initialisation() || whole <= 0) {
    return Element("p", {{"class", "note"}},
                   Text("No steps were reported, so the time is not divided into initialisation, "
                        "training loop and finalisation."));
  }
  Whole row;
  const auto put = [&](std::string_view name, std::optional<double> seconds, std::string_view css) {
    if (seconds.value_or(0) <= 0) return;
    row.parts.push_back(
        {std::string(name), *seconds / whole, FormatDuration(*seconds), std::string(css)});
  };
  put("initialisation", times.Initialisation(), "striped s1");
  const double evaluation = times.Evaluation().value_or(0);
  put("training", *times.Loop() - evaluation, "s0");
  put("evaluation", evaluation, "striped s3");
  put("finalisation", times.Finalisation(), "striped s2");
  return Shares("Phases of the job", {row});
}

// "8", or "0.5 of 8" where the job may use no more.
std::string CoresOf(const ReportNode& node) {
  if (!node.cores) return std::string(kNothing);
  const std::string cores = Grouped(*node.cores);
  return node.usable_cores ? Format("{:.4g} of {}", *node.usable_cores, cores) : cores;
}

std::string MemoryOf(const ReportNode& node) {
  if (!node.memory_bytes) return std::string(kNothing);
  const std::string memory = FormatBytes(static_cast<double>(*node.memory_bytes));
  if (!node.usable_memory_bytes) return memory;
  return Format("{} of {}", FormatBytes(static_cast<double>(*node.usable_memory_bytes)), memory);
}

Markup Nodes(const Report& report) {
  if (report.nodes.empty()) {
    return Element("p", {{"class", "note"}}, Text("No agent has reported yet."));
  }
  std::vector<std::vector<Markup>> rows;
  for (const ReportNode& node : report.nodes) {
    std::string gpus = std::to_string(node.gpus);
    if (!node.gpu_name.empty()) gpus += " × " + node.gpu_name;
    const std::string end = node.signal      ? Format("signal {}", *node.signal)
                            : node.exit_code ? Format("exit code {}", *node.exit_code)
                            : node.ended_us  ? "ended, exit code unknown"
                            : report.running ? "running"
                                             : "its end was not reported";
    rows.push_back({Text(node.name), Text(CoresOf(node)), Text(MemoryOf(node)), Text(gpus),
                    Text(FormatTime(node.last_seen_us)), Text(end)});
  }
  Markup remarks;
  for (const ReportNode& node : report.nodes) {
    if (node.hooks_missing.empty()) continue;
    remarks += Element("li", Format("{}: steps are not seen: {}", node.name, node.hooks_missing));
  }
  for (const std::string& remark : report.rank_remarks) remarks += Element("li", remark);
  const Markup list = remarks.empty() ? Markup() : Element("ul", remarks);
  return ScrollTable("Nodes", {"Node", "Cores", "Memory", "GPUs", "Last seen", "End"}, rows) + list;
}

Markup Measured(const Report& report) {
  std::string text = "Nothing was measured.";
  if (!report.usage.rows.empty()) {
    text = Format("Measured from {} to {}, every {}.", FormatTime(report.data_from_us),
                  FormatTime(report.data_to_us),
                  FormatDuration(static_cast<double>(report.interval_us) / 1e6));
  }
  text += Format(" Lost on the way: {}, {} refused, {} dropped.",
                 report.lost_frames == 1 ? "1 push" : Format("{} pushes", report.lost_frames),
                 report.rejected_frames, CountText(report.dropped_marks, "mark"));
  return Element("p", {{"class", "note"}}, Text(text));
}

}  // namespace

Markup Chip(std::string_view word) {
  const bool bad = word == "IssuesFound" || word == "issues found" || word == "Failed" ||
                   word == "Error" || word == "high";
  const bool good = word == "Completed" || word == "NoIssuesFound" || word == "no issues";
  const bool some = word == "medium" || word == "low" || word == "Stopped" || word == "Stopping";
  const std::string tone = bad ? "red" : good ? "green" : some ? "amber" : "grey";
  return Element("span", {{"class", "chip " + tone}}, Text(word));
}

Markup HeadSection(const Report& report) {
  return Title(report) + Section("summary", "Job summary",
                                 Facts(report) + Parts(report) + Nodes(report) + Measured(report));
}

}  // namespace stepscope
