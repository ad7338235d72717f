// Rules whose picture is a metric over time.

#include <algorithm>
#include <functional>

#include "core/base/text.h"
#include "server/report/page/rule_pictures.h"
#include "server/report/picture/pictures.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostLines = 8;

Markup LinesOf(const Report& report, std::string_view metric, std::string_view what,
               std::optional<double> most) {
  Markup pictures;
  std::size_t count = 0;
  for (const UsageLine& line : stepscope::LinesOf(report.uses)) {
    if (line.metric != metric || ++count > kMostLines) continue;
    pictures += Line({.title = Format("{} of {}", what, line.node),
                      .unit = line.unit,
                      .points = line.points,
                      .from_us = report.data_from_us,
                      .to_us = report.data_to_us,
                      .gap_us = line.gap_us,
                      .most = most});
  }
  if (pictures.empty()) return {};
  return Element("div", {{"class", "pictures"}}, pictures) + More(count, kMostLines);
}

// The uses of a rule's own metrics, on the nodes that were read.
Curve CurveOf(const Report& report, const RuleSection& rule, const UsageLine& line,
              std::string title) {
  if (line.devices > 1) title += Format(", mean of {} devices", line.devices);
  return {.title = std::move(title),
          .unit = line.unit,
          .points = line.points,
          .from_us = report.data_from_us,
          .to_us = report.data_to_us,
          .gap_us = line.gap_us,
          .most = {},
          .shaded = Fired(rule, line.node)};
}

Markup WithNote(const Markup& pictures, const std::string& note) {
  if (pictures.empty()) return {};
  const Markup grid = Element("div", {{"class", "pictures"}}, pictures);
  return note.empty() ? grid : grid + Element("p", {{"class", "note"}}, Text(note));
}

}  // namespace

Markup GpuMemoryLines(const Report& report, const RuleSection&) {
  return LinesOf(report, "gpu_memory_used_percent", "Allocated GPU memory", 100);
}

Markup MemoryLines(const Report& report, const RuleSection& rule) {
  return LinesOf(report, "memory_used_percent", "Memory", 100) + GpuMemoryLines(report, rule);
}

Markup UploadLines(const Report& report, const RuleSection&) {
  return LinesOf(report, "network_send_bytes_per_second", "Network out", {});
}

// A sample is 0 or 100: over a stretch of time only the mean is meaningful. A reason that never
// held a GPU of the node down has no picture, unless none did.
Markup ThrottleLines(const Report& report, const RuleSection& rule) {
  std::vector<UsageLine> lines = stepscope::LinesOf(rule.uses);
  const auto held = [](const UsageLine& line) {
    return std::ranges::any_of(line.points, [](const auto& point) { return point.most > 0; });
  };
  if (std::ranges::any_of(lines, held)) std::erase_if(lines, std::not_fn(held));
  Markup pictures;
  for (const UsageLine& line : lines) {
    const bool heat = line.metric == "gpu_thermal_throttle_percent";
    Curve curve = CurveOf(report, rule, line,
                          Format("Samples of {} in which {} held a GPU down", line.node,
                                 heat ? "heat" : "a power limit"));
    for (DeviceUse::Point& point : curve.points) point.least = point.most = point.mean;
    curve.most = 100;
    pictures += Line(curve);
  }
  return WithNote(pictures, FiredWords(rule));
}

// The rule judges windows of each device, so the picture has a range around the mean, too.
Markup CustomLines(const Report& report, const RuleSection& rule) {
  const auto threshold = std::ranges::find(rule.parameters, "threshold", &UsedParameter::name);
  Markup pictures;
  std::string note;
  for (const UsageLine& line : stepscope::LinesOf(rule.uses, RateMerge::kMean)) {
    Curve curve =
        CurveOf(report, rule, line, Format("{} of {}", FormatMetric(line.metric), line.node));
    if (threshold != rule.parameters.end() && threshold->value.is_number()) {
      curve.mark = threshold->value.get<double>();
      note = Format("Dashed: the threshold, {}. ", FormatValue(*curve.mark, line.unit));
    }
    pictures += Line(curve);
  }
  return WithNote(pictures, note + FiredWords(rule));
}

}  // namespace stepscope
