#include <algorithm>

#include "core/base/text.h"
#include "core/model/metric.h"
#include "server/report/pictures.h"
#include "server/report/sections.h"
#include "server/report/usage_lines.h"
#include "server/report/words.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostLines = 8;  // nodes with a picture of their own

Markup UsageRows(const UsageTable& usage) {
  std::vector<std::vector<Markup>> rows;
  for (const UsageRow& row : usage.rows) {
    const std::string_view unit = FindMetric(row.metric)->unit;
    rows.push_back({Text(row.node), Text(MetricWords(row.metric))});
    for (const double value : {row.max, row.p99, row.p95, row.p90, row.p50, row.min}) {
      rows.back().push_back(Text(ValueWords(value, unit)));
    }
  }
  return ScrollTable("System usage", {"Node", "What", "max", "p99", "p95", "p90", "p50", "min"},
                     rows);
}

// Of the GPUs, or of the cores where there is none.
Markup Lines(const Report& report) {
  std::vector<UsageLine> lines = LinesOf(report.uses);
  const bool gpus = std::ranges::any_of(
      lines, [](const UsageLine& line) { return line.metric == "gpu_util_percent"; });
  const std::string_view metric = gpus ? "gpu_util_percent" : "node_cpu_percent";
  std::erase_if(lines, [&](const UsageLine& line) { return line.metric != metric; });
  Markup pictures;
  for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
    const UsageLine& line = lines[i];
    const std::string title =
        gpus ? Format("GPU utilisation of {}: mean of {} and the range from the least to the most",
                      line.node, line.devices == 1 ? "its GPU" : Format("{} GPUs", line.devices))
             : Format("CPU utilisation of {}", line.node);
    pictures += Line({.title = title,
                      .unit = line.unit,
                      .points = line.points,
                      .from_us = report.data_from_us,
                      .to_us = report.data_to_us,
                      .gap_us = line.gap_us,
                      .most = 100});
  }
  if (lines.size() > kMostLines) {
    pictures += Element(
        "p", {{"class", "note"}},
        Text(Format("{} more nodes are in the JSON of this report.", lines.size() - kMostLines)));
  }
  return Element("div", {{"class", "pictures"}}, pictures);
}

}  // namespace

Markup UsageSection(const Report& report) {
  if (report.usage.rows.empty()) {
    return Section("usage", "System usage", Element("p", "Nothing was measured of this job yet."));
  }
  const std::string of =
      "Percentiles of " + report.usage.of +
      "; each GPU's count by themselves, the rates of a node's interfaces add up.";
  return Section("usage", "System usage",
                 Element("p", {{"class", "sentence"}}, Text(report.usage_sentence)) +
                     UsageRows(report.usage) + Element("p", {{"class", "note"}}, Text(of)) +
                     Lines(report));
}

}  // namespace stepscope
