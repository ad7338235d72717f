#include "core/base/json_members.h"
#include "core/model/metric.h"
#include "server/report/measure/usage_lines.h"
#include "server/report/page/report.h"
#include "server/report/page/rule_answer.h"

namespace stepscope {
namespace {

constexpr std::size_t kSpreadParts = 20;

template <typename T>
OrderedJson OrNull(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson JobJson(const Report& report) {
  const JobRow& job = report.job;
  OrderedJson json = {{"name", job.name},
                      {"group", job.group},
                      {"status", ToText(job.status)},
                      {"secondary_status", job.secondary_status},
                      {"verdict", ToText(report.verdict)}};
  PutTime(json, "created", job.created_us);
  json["running"] = report.running;
  json["url"] = report.url;
  return json;
}

// A part with its share of the whole; null while it is not known.
OrderedJson PartJson(const std::optional<double>& seconds, double whole) {
  if (!seconds) return nullptr;
  return {{"seconds", Rounded(*seconds, 3)},
          {"percent", whole > 0 ? Rounded(100 * *seconds / whole, 2) : 0}};
}

OrderedJson SummaryJson(const Report& report) {
  const JobTimes& times = report.times;
  OrderedJson json;
  PutTime(json, "start", times.from_us);
  PutTime(json, "end", times.ended ? std::optional(times.to_us) : std::nullopt);
  json["duration_seconds"] = Rounded(times.Seconds(), 3);
  PutTime(json, "loop_start", times.loop_from_us);
  PutTime(json, "loop_end", times.loop_to_us);
  json["initialisation"] = PartJson(times.Initialisation(), times.Seconds());
  json["training_loop"] = PartJson(times.Loop(), times.Seconds());
  json["evaluation"] = PartJson(times.Evaluation(), times.Seconds());
  json["finalisation"] = PartJson(times.Finalisation(), times.Seconds());
  return json;
}

OrderedJson ToJson(const ReportNode& node) {
  OrderedJson json = {{"name", node.name},
                      {"cores", OrNull(node.cores)},
                      {"memory_bytes", OrNull(node.memory_bytes)},
                      {"usable_cores", OrNull(node.usable_cores)},
                      {"usable_memory_bytes", OrNull(node.usable_memory_bytes)},
                      {"gpus", node.gpus},
                      {"gpu_name", NullIfEmpty(node.gpu_name)},
                      {"hooks_missing", NullIfEmpty(node.hooks_missing)}};
  PutTime(json, "last_seen", node.last_seen_us);
  PutTime(json, "ended", node.ended_us);
  json["exit_code"] = OrNull(node.exit_code);
  json["signal"] = OrNull(node.signal);
  return json;
}

OrderedJson HostsJson(const Report& report) {
  OrderedJson json = {{"nodes", OrderedJson::array()}, {"gpus", report.Gpus()}};
  for (const ReportNode& node : report.nodes) json["nodes"].push_back(ToJson(node));
  json["ranks"] = report.ranks;
  json["frameworks"] = report.frameworks;
  json["rank_remarks"] = report.rank_remarks;
  return json;
}

OrderedJson MeasuredJson(const Report& report) {
  OrderedJson json;
  PutTime(json, "from", report.data_from_us);
  PutTime(json, "to", report.data_to_us);
  json["interval_ms"] = report.interval_us / 1'000;
  json["lost_frames"] = report.lost_frames;
  json["rejected_frames"] = report.rejected_frames;
  json["dropped_marks"] = report.dropped_marks;
  return json;
}

// Only a percentage has a distribution.
OrderedJson DeviceJson(const DeviceUses::Key& key, const DeviceUse& use) {
  const auto& [metric, node, device] = key;
  OrderedJson json = {{"metric", metric},
                      {"node", node},
                      {"device", NullIfEmpty(device)},
                      {"count", use.count()},
                      {"min", Rounded(use.min())},
                      {"max", Rounded(use.max())},
                      {"mean", Rounded(use.mean())}};
  for (const auto& [name, share] :
       {std::pair("p5", 0.05), std::pair("p25", 0.25), std::pair("p50", 0.5),
        std::pair("p75", 0.75), std::pair("p95", 0.95)}) {
    json[name] = Rounded(use.Percentile(share));
  }
  json["spread"] = use.Spread(kSpreadParts);
  return json;
}

OrderedJson LineJson(const UsageLine& line) {
  OrderedJson at = OrderedJson::array(), mean = at, least = at, most = at;
  for (const DeviceUse::Point& point : line.points) {
    at.push_back(point.at_us);
    mean.push_back(Rounded(point.mean, 2));
    least.push_back(Rounded(point.least, 2));
    most.push_back(Rounded(point.most, 2));
  }
  return {{"metric", line.metric},
          {"node", line.node},
          {"unit", line.unit},
          {"devices", line.devices},
          {"gap_us", line.gap_us},
          {"at_us", at},
          {"mean", mean},
          {"min", least},
          {"max", most}};
}

OrderedJson UsageJson(const Report& report) {
  OrderedJson rows = OrderedJson::array(), devices = rows, lines = rows;
  for (const UsageRow& row : report.usage.rows) rows.push_back(ToJson(row));
  for (const auto& [key, use] : report.uses.all()) {
    const Metric* metric = FindMetric(std::get<0>(key));
    if (metric != nullptr && metric->unit == "%") devices.push_back(DeviceJson(key, use));
  }
  for (const UsageLine& line : LinesOf(report.uses)) lines.push_back(LineJson(line));
  return {{"sentence", report.usage_sentence},
          {"of", report.usage.of},
          {"rows", rows},
          {"devices", devices},
          {"lines", lines}};
}

// Leaves out curves and annotations: /jobs/{name}/steps has them.
OrderedJson StepsJson(const RankSummary& summary) {
  OrderedJson json = {{"rank", summary.of.rank}, {"node", NullIfEmpty(summary.of.node)}};
  Put(summary.steps, json);
  for (const char* key : {"series", "gpu"}) json.erase(key);
  return json;
}

OrderedJson FrameworkJson(const Report& report) {
  OrderedJson json = {{"steps", report.phases.steps},
                      {"seconds", Rounded(report.phases.seconds, 6)},
                      {"phases", OrderedJson::array()},
                      {"ranks", OrderedJson::array()},
                      {"ranks_left_out", report.ranks_left_out}};
  for (const StepFigures::PhaseSum& sum : report.phases.phases) {
    json["phases"].push_back({{"phase", sum.phase},
                              {"total_seconds", Rounded(sum.seconds, 6)},
                              {"share_percent", Rounded(sum.share_percent, 2)}});
  }
  for (const RankSummary& rank : report.steps) json["ranks"].push_back(StepsJson(rank));
  return json;
}

OrderedJson ToJson(const UsedParameter& used) {
  return {{"name", used.name},
          {"value", used.value},
          {"unit", used.unit},
          {"samples", OrNull(used.samples)},
          {"seconds", OrNull(used.seconds)},
          {"help", used.help}};
}

OrderedJson ToJson(const RuleSection& section) {
  OrderedJson json = {{"rule", section.answer}, {"looks_for", NullIfEmpty(section.looks_for)}};
  json["triggers"] = section.triggers;
  json["used"] = OrderedJson::array();
  for (const UsedParameter& used : section.parameters) json["used"].push_back(ToJson(used));
  json["findings"] = OrderedJson::array();
  for (const FindingRow& finding : section.findings) {
    json["findings"].push_back(stepscope::ToJson(finding));
  }
  json["findings_total"] = section.findings_total;
  return json;
}

OrderedJson MethodJson() {
  OrderedJson json = OrderedJson::array();
  for (const MethodRow& row : Method()) {
    json.push_back({{"number", row.number}, {"formula", row.formula}, {"source", row.source}});
  }
  return json;
}

}  // namespace

OrderedJson ToJson(const Report& report) {
  OrderedJson json = {{"version", report.version}};
  PutTime(json, "as_of", report.as_of_us);
  json["job"] = JobJson(report);
  json["summary"] = SummaryJson(report);
  json["hosts"] = HostsJson(report);
  json["measured"] = MeasuredJson(report);
  json["usage"] = UsageJson(report);
  json["framework"] = FrameworkJson(report);
  json["rules"] = OrderedJson::array();
  for (const RuleSection& section : report.rules) json["rules"].push_back(ToJson(section));
  json["diagnosis"] = report.diagnosis;
  json["method"] = MethodJson();
  return json;
}

}  // namespace stepscope
