// Rules whose picture is a metric over time.

#include <algorithm>

#include "core/base/text.h"
#include "server/report/pictures.h"
#include "server/report/rule_pictures.h"
#include "server/report/words.h"

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

}  // namespace stepscope
