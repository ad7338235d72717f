#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "core/model/metric.h"
#include "server/report/measure/usage_lines.h"
#include "server/report/page/sections.h"
#include "server/report/picture/pictures.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostNodePictures = 8;  // nodes with a picture of their own

// Total bytes that each node received or sent, as OverallSystemUsage has added them up: by node and
// metric.
std::map<std::pair<std::string, std::string>, double> TotalsOf(const Report& report) {
  std::map<std::pair<std::string, std::string>, double> totals;
  for (const RuleSection& rule : report.rules) {
    if (rule.rule != "OverallSystemUsage" || !rule.judged) continue;
    for (const OrderedJson& node : rule.answer["evidence"].value("nodes", OrderedJson::array())) {
      for (const char* name : {"network_receive", "network_send"}) {
        const auto usage = node.find(name);
        if (usage == node.end() || !usage->is_object()) continue;
        totals[{node.value("node", ""), Format("{}_bytes_per_second", name)}] =
            usage->value("total_bytes", 0.0);
      }
    }
  }
  return totals;
}

Markup UsageRows(const Report& report) {
  const auto totals = TotalsOf(report);
  std::vector<std::vector<Markup>> rows;
  for (const UsageRow& row : report.usage.rows) {
    const std::string_view unit = FindMetric(row.metric)->unit;
    rows.push_back({Text(row.node), Text(FormatMetric(row.metric))});
    for (const double value : {row.max, row.p99, row.p95, row.p90, row.p50, row.min}) {
      rows.back().push_back(Text(FormatValue(value, unit)));
    }
    const auto total = totals.find({row.node, row.metric});
    rows.back().push_back(
        Text(total == totals.end() ? std::string(kNothing) : FormatBytes(total->second)));
  }
  return ScrollTable("System usage",
                     {"Node", "What", "max", "p99", "p95", "p90", "p50", "min", "in all"}, rows);
}

// Boxes of the GPUs, or of the cores where there is no GPU.
Markup Lines(const Report& report) {
  std::vector<UsageLine> lines = LinesOf(report.uses);
  const bool gpus = std::ranges::any_of(
      lines, [](const UsageLine& line) { return line.metric == "gpu_util_percent"; });
  const std::string_view metric = gpus ? "gpu_util_percent" : "node_cpu_percent";
  std::erase_if(lines, [&](const UsageLine& line) { return line.metric != metric; });
  Markup pictures;
  for (std::size_t i = 0; i < std::min(lines.size(), kMostNodePictures); ++i) {
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
  if (lines.size() > kMostNodePictures) {
    pictures += Element("p", {{"class", "note"}},
                        Text(Format("{} more nodes are in the JSON of this report.",
                                    lines.size() - kMostNodePictures)));
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
                     UsageRows(report) + Element("p", {{"class", "note"}}, Text(of)) +
                     Lines(report));
}

}  // namespace stepscope
