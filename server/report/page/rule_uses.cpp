#include "server/report/page/rule_uses.h"

#include <algorithm>

#include "server/report/measure/usage_table.h"
#include "server/report/text/natural_order.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostNodes = 4;

std::vector<std::string> MetricsOf(const RuleSection& rule) {
  if (!rule.judged) return {};
  if (rule.rule == "GPUThrottled") {
    return {"gpu_thermal_throttle_percent", "gpu_power_throttle_percent"};
  }
  if (rule.rule != CustomRule().name) return {};
  const auto metric = std::ranges::find(rule.parameters, "metric", &UsedParameter::name);
  const bool known = metric != rule.parameters.end() && metric->value.is_string();
  return known ? std::vector{metric->value.get<std::string>()} : std::vector<std::string>();
}

std::vector<std::string> JudgedNodes(const RuleSection& rule) {
  std::vector<std::string> names;
  for (const char* list : {"gpus", "devices"}) {
    const auto judged = rule.answer["evidence"].find(list);
    if (judged == rule.answer["evidence"].end()) continue;
    for (const OrderedJson& row : *judged) names.push_back(row.value("node", ""));
  }
  std::ranges::sort(names, IsBefore);
  return names;
}

// Nodes with findings first, then nodes that were judged.
std::vector<std::string> NodesOf(const RuleSection& rule) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (names.size() < kMostNodes && std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const FindingRow& finding : rule.findings) add(finding.node);
  for (const std::string& name : JudgedNodes(rule)) add(name);
  return names;
}

}  // namespace

Status ReadRuleUses(Connection& connection, SeriesRange range, RuleSection& rule) {
  const std::vector<std::string> metrics = MetricsOf(rule), names = NodesOf(rule);
  std::erase_if(range.nodes, [&](const NodeBrief& node) {
    return std::ranges::find(names, node.name) == names.end();
  });
  if (metrics.empty() || range.nodes.empty()) return {};
  const Status read = ReadUses(connection, std::move(range), metrics, rule.uses);
  return !read && read.error().code == Code::kInvalid ? Status() : read;
}

}  // namespace stepscope
