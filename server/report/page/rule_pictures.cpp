// The table of rules and their pictures.

#include <algorithm>

#include "core/base/text.h"
#include "server/report/page/rule_pictures.h"
#include "server/report/page/sections.h"
#include "server/report/picture/pictures.h"
#include "server/report/text/format.h"
#include "server/report/text/natural_order.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostDevices = 64;  // rows of a picture

std::string NameOf(const DeviceUses::Key& key) {
  const auto& [metric, node, device] = key;
  return device.empty()
             ? node
             : Format("{} · {}{}", node,
                      metric.starts_with("gpu_") && !device.starts_with("gpu") ? "GPU " : "",
                      device);
}

// Boxes with the least median come first.
Markup BoxesOf(const Report& report, std::string_view metric, std::vector<double> marks) {
  std::vector<Box> boxes;
  for (const auto& [key, use] : report.uses.all()) {
    if (std::get<0>(key) != metric || use.count() == 0) continue;
    boxes.push_back({NameOf(key), use.Percentile(0.05), use.Percentile(0.25), use.Percentile(0.5),
                     use.Percentile(0.75), use.Percentile(0.95)});
  }
  if (boxes.empty()) return {};
  std::ranges::stable_sort(boxes, {}, &Box::p95);
  const std::size_t all = boxes.size();
  boxes.resize(std::min(all, kMostDevices));
  std::erase_if(marks, [](double mark) { return mark <= 0 || mark >= 100; });
  return Boxes(FormatMetric(metric) + " in percent, the lowest first", boxes, marks) +
         More(all, boxes.size());
}

Markup GpuBoxes(const Report& report, const RuleSection& rule) {
  return BoxesOf(report, "gpu_util_percent",
                 {ParameterOf(rule, "threshold_p5", 0), ParameterOf(rule, "threshold_p95", 0)});
}

Markup BatchBoxes(const Report& report, const RuleSection& rule) {
  return BoxesOf(report, "node_cpu_percent", {ParameterOf(rule, "cpu_threshold_p95", 0)}) +
         BoxesOf(report, "gpu_util_percent", {ParameterOf(rule, "gpu_threshold_p95", 0)}) +
         BoxesOf(report, "gpu_memory_used_percent",
                 {ParameterOf(rule, "gpu_memory_threshold_p95", 0)});
}

Markup Workloads(const Report& report, const RuleSection&) {
  std::vector<Spread> spreads;
  for (const auto& [key, use] : report.uses.all()) {
    if (std::get<0>(key) != "gpu_util_percent") continue;
    spreads.push_back({NameOf(key), use.Spread(20), use.mean()});
  }
  if (spreads.empty()) return {};
  std::ranges::stable_sort(spreads, {}, &Spread::mean);
  const std::size_t all = spreads.size();
  spreads.resize(std::min(all, kMostDevices));
  return Spreads("Workload of each GPU, the least busy first", spreads) + More(all, spreads.size());
}

// Shares of the judged ticks of each node.
Markup Bottlenecks(const Report&, const RuleSection& rule) {
  const auto nodes = rule.answer["evidence"].find("nodes");
  if (nodes == rule.answer["evidence"].end() || !nodes->is_array()) return {};
  std::vector<Whole> wholes;
  for (const OrderedJson& node : *nodes) {
    const double judged = node.value("judged", 0.0), bottleneck = node.value("bottleneck", 0.0);
    if (judged <= 0 || wholes.size() == kMostDevices) continue;
    const double share = bottleneck / judged;
    wholes.push_back(
        {node.value("node", ""),
         {{"bottleneck", share, Format("{:.0f} samples", bottleneck), "striped s2"},
          {"other judged samples", 1 - share, Format("{:.0f}", judged - bottleneck), "rest"}}});
  }
  std::ranges::stable_sort(wholes, IsBefore, &Whole::name);
  return Shares(Format("Share of the judged samples, over {:g} % is an issue",
                       ParameterOf(rule, "threshold", 50)),
                wholes);
}

Markup PhasesByRank(const Report& report, const RuleSection&) {
  std::vector<Whole> wholes;
  for (const RankSummary& rank : report.steps) {
    if (rank.steps.count == 0 || wholes.size() == kMostDevices) continue;
    Whole whole{Format("rank {} · {}", rank.of.rank, rank.of.node), {}};
    for (const StepFigures::PhaseSum& sum : rank.steps.phases) {
      whole.parts.push_back(
          {std::string(sum.phase), sum.share_percent / 100, "", PhaseCss(sum.phase)});
    }
    wholes.push_back(std::move(whole));
  }
  return Shares("Phases of the steps of each rank", wholes);
}

Markup LoadsAndPhases(const Report& report, const RuleSection& rule) {
  return LoadHistogram(report, rule) + PhasesByRank(report, rule);
}

// The bar is as long as the longer of the two: the time taken, and the time allowed.
Markup TimeToFirstStep(const Report&, const RuleSection& rule) {
  const OrderedJson& evidence = rule.answer["evidence"];
  const double took = evidence.value("seconds", 0.0);
  const double allowed = evidence.value("threshold_seconds", 0.0);
  const double whole = std::max(took, allowed);
  if (whole <= 0) return {};
  const bool late = took > allowed;
  const auto part = [&](std::string name, double seconds, std::string css) {
    return Part{std::move(name), seconds / whole, FormatDuration(seconds), std::move(css)};
  };
  Whole row;
  row.parts.push_back(
      part(late ? "what is allowed" : "until the first step", std::min(took, allowed), "s0"));
  row.parts.push_back(late ? part("more than is allowed", took - allowed, "striped s2")
                           : part("also allowed", allowed - took, "rest"));
  return Shares(Format("Time until the first step; {} are allowed", FormatDuration(allowed)),
                {row});
}

constexpr std::pair<std::string_view, Markup (*)(const Report&, const RuleSection&)> kPictures[] = {
    {"LowGPUUtilization", GpuBoxes},
    {"IdleGPU", GpuBoxes},
    {"BatchSize", BatchBoxes},
    {"LoadBalancing", Workloads},
    {"CPUBottleneck", Bottlenecks},
    {"IOBottleneck", Bottlenecks},
    {"NetworkBottleneck", Bottlenecks},
    {"GPUMemoryIncrease", GpuMemoryLines},
    {"MemoryLeak", MemoryLines},
    {"GrowingUpload", UploadLines},
    {"MaxInitializationTime", TimeToFirstStep},
    {"StepOutlier", StepHistogram},
    {"StepTimeRegression", StepLine},
    {"StepTimeTrend", StepLine},
    {"StalledTraining", StallLine},
    {"PeriodicStall", StepLine},
    {"Dataloader", LoadHistogram},
    {"DataloaderBottleneck", LoadsAndPhases},
    {"CommunicationBottleneck", PhasesByRank},
    {"Straggler", PhasesByRank},
    {"FrameworkOverhead", PhasesByRank},
    {"GPUThrottled", ThrottleLines},
    {"Custom", CustomLines},
};

}  // namespace

double ParameterOf(const RuleSection& rule, std::string_view name, double otherwise) {
  const auto used = std::ranges::find(rule.parameters, name, &UsedParameter::name);
  const bool known = used != rule.parameters.end() && used->value.is_number();
  return known ? used->value.get<double>() : otherwise;
}

Markup More(std::size_t all, std::size_t shown) {
  if (all <= shown) return {};
  return Element("p", {{"class", "note"}},
                 Text(Format("{} more are in the JSON of this report.", all - shown)));
}

std::vector<Stretch> Fired(const RuleSection& rule, std::string_view node) {
  std::vector<Stretch> stretches;
  for (const FindingRow& finding : rule.findings) {
    const bool here = node.empty() || finding.node.empty() || finding.node == node;
    if (here) stretches.push_back({finding.from_us, finding.to_us});
  }
  return stretches;
}

std::string FiredWords(const RuleSection& rule, std::string_view what) {
  if (rule.findings.empty()) return "";
  const auto shown = static_cast<std::int64_t>(rule.findings.size());
  return shown < rule.findings_total
             ? Format("Shaded: {}, the longest {} of {} times.", what, shown, rule.findings_total)
             : Format("Shaded: {}.", what);
}

Markup RulePicture(const Report& report, const RuleSection& rule) {
  for (const auto& [name, draw] : kPictures) {
    if (name == rule.rule) return draw(report, rule);
  }
  return {};
}

}  // namespace stepscope
