// A threshold on a metric that people choose.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/model/metric.h"
#include "rules/catalog/custom_params.h"
#include "rules/engine/next_check.h"
#include "rules/engine/sentence.h"
#include "rules/signals/device_fold.h"
#include "rules/signals/judged_windows.h"
#include "rules/stats/columns.h"

namespace stepscope {
namespace {

// Ticks without the chosen metric are needed, too: they show how much time has passed.
std::vector<std::string> ChosenMetrics(const Params& params) {
  return {params.Text("metric"), "node_cpu_percent"};
}

class CustomFold : public DeviceFold<CustomFold, JudgedDevice> {
 public:
  CustomFold(const Params& params, const JobFacts& facts)
      : DeviceFold(params.Samples("patience"), facts,
                   {params["per"] == 0 ? "device" : "node", "devices"}),
        metric_(params.Text("metric")),
        aggregation_(static_cast<Aggregation>(params["aggregation"])),
        window_(params.Samples("window")),
        length_(std::max(facts.interval, Duration(1ms)) * window_),
        above_(params["comparison"] == 0),
        threshold_(params["threshold"]),
        share_(params["share"] / 100),
        per_device_(params["per"] == 0) {}

  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("nodes", nodes_, [] { return NodeWindow(); });
    state("judged", devices_, [] { return JudgedDevice(); });
    state("scans", scans_);
  }

 private:
  void Close(const std::string& name, NodeWindow& node);
  bool Crosses(double value) const { return above_ ? value > threshold_ : value < threshold_; }
  bool IsWorse(double value, double than) const { return above_ ? value > than : value < than; }
  bool Fires(const JudgedDevice& judged) const {
    return static_cast<double>(judged.crossed) > share_ * static_cast<double>(judged.windows);
  }
  std::string Value(double value) const;
  std::string Who(const Subject& subject) const;
  std::string ValueText(const Subject& subject, double value) const;
  Time NextTrigger(Time at) const override;
  std::string Unjudged() const override;
  std::string Describe(const Subject& subject, const JudgedDevice& judged) const override {
    return ValueText(subject, judged.worst);
  }
  std::string ClearText() const override {
    return Format("{}, the {} of all; {} judged.", WorstText(), above_ ? "highest" : "lowest",
                  CountText(scans_.devices(), names_.one));
  }
  Badness BadnessOf(const Subject&, const JudgedDevice& judged) const override {
    return {above_ ? judged.worst : -judged.worst};
  }
  Json EvidenceOf(const Subject&, const JudgedDevice& judged) const override {
    return {{"windows", judged.windows}, {"crossed", judged.crossed}, {"worst", judged.worst}};
  }
  void Complete(Verdict& verdict) const override;

  std::string metric_;
  Aggregation aggregation_;
  std::int64_t window_;
  Duration length_;
  bool above_;
  double threshold_, share_;
  bool per_device_;

  std::map<std::string, NodeWindow, std::less<>> nodes_;
};

// A window is a stretch of time, so that it is as long for a metric that is read once a minute.
void CustomFold::Observe(const TickView& ticks) {
  if (ticks.first == ticks.end) return;
  const auto columns = ColumnsOf(ticks, metric_);
  const std::string name(ticks.node);
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    if (start_.Observe(ticks.node, at) == Initialisation::Tick::kNotJudged) continue;
    if (std::ranges::none_of(columns, [&](const auto& each) { return each.Has(row); })) continue;
    scans_.Saw(at);
    NodeWindow& node = nodes_[name];
    if (node.from && at >= *node.from + length_) Close(name, node);
    if (!node.from) node.from = at;
    node.Add(columns, row, per_device_, aggregation_, window_);
  }
}

void CustomFold::Close(const std::string& name, NodeWindow& node) {
  for (const auto& [device, values] : node.devices) {
    const double value = values.Of(aggregation_);
    JudgedDevice& judged = devices_[{name, device}];
    if (judged.windows == 0 || IsWorse(value, judged.worst)) judged.worst = value;
    ++judged.windows;
    ++judged.fresh;
    if (!Crosses(value)) continue;
    ++judged.crossed;
    if (!judged.from || IsWorse(value, judged.recent)) judged.recent = value;
    if (!judged.from) judged.from = *node.from;
    judged.to = *node.from + length_;
  }
  node.devices.clear();
  node.from.reset();
}

// A window is closed by the first tick behind it.
Time CustomFold::NextTrigger(Time at) const {
  const auto fires = [this](const auto& each) { return each.second.from && Fires(each.second); };
  return std::ranges::any_of(devices_, fires) ? at : After(at, 1, facts_.interval);
}

void CustomFold::Scan(Time at) {
  for (auto& [name, node] : nodes_) {
    if (node.from && *node.from + length_ <= at) Close(name, node);
  }
  const auto fresh = [](const auto& each) { return each.second.fresh > 0; };
  if (std::ranges::none_of(devices_, fresh)) return;
  scans_.Begin(at);
  for (auto& [subject, judged] : devices_) {
    if (judged.fresh == 0) continue;
    if (judged.from && Fires(judged)) {
      scans_.Trigger({.from = *judged.from,
                      .to = *judged.to,
                      .subject = subject,
                      .sentence = ValueText(subject, judged.recent) + ".",
                      .evidence = {{"value", judged.recent}, {"threshold", threshold_}}},
                     1);
    } else {
      scans_.Clear(subject);
    }
    judged.from.reset();
    judged.fresh = 0;
    judged.recent = 0;
  }
  scans_.End();
}

std::string CustomFold::Value(double value) const {
  const Metric* metric = FindMetric(metric_);
  const std::string unit(metric == nullptr ? "" : metric->unit);
  const std::string number = std::abs(value) >= 10'000 && std::abs(value) < 1e15
                                 ? Grouped(static_cast<std::int64_t>(std::llround(value)))
                                 : Format("{:.4g}", value);
  return unit.empty() ? number : number + " " + unit;
}

std::string CustomFold::Who(const Subject& subject) const {
  const Metric* metric = FindMetric(metric_);
  const bool gpu = metric != nullptr && metric->device == DeviceKind::kGpu;
  if (gpu && !subject.device.empty()) return GpuText(subject);
  return subject.device.empty() ? "node " + subject.node
                                : Format("{} of node {}", subject.device, subject.node);
}

std::string CustomFold::ValueText(const Subject& subject, double value) const {
  return Format("The {} of {} over {} was {} on {}; the threshold is {}",
                kAggregations[static_cast<std::size_t>(aggregation_)], metric_,
                SamplesText(window_, facts_.interval), Value(value), Who(subject),
                Value(threshold_));
}

std::string CustomFold::Unjudged() const {
  const auto over = [&](const NodeFacts& node) { return start_.IsOver(node.name); };
  if (std::ranges::none_of(facts_.nodes, over) && nodes_.empty()) return start_.Reason();
  if (nodes_.empty()) return Format("no node gives samples of {}", metric_);
  return Format("no window of {} of {} is over yet", SamplesText(window_, facts_.interval),
                metric_);
}

// The windows beyond the threshold of devices that fired, as a part of the windows of all devices.
void CustomFold::Complete(Verdict& verdict) const {
  verdict.evidence["metric"] = metric_;
  verdict.evidence["threshold"] = threshold_;
  verdict.evidence["window"] = SamplesText(window_, facts_.interval);
  if (verdict.kind != VerdictKind::kFinding) return;
  verdict.share = ShareOf([this](const Subject& subject, const JudgedDevice& judged) {
    const bool fired = scans_.Of(subject).triggers > 0;
    return std::pair(fired ? judged.crossed : 0, judged.windows);
  });
  verdict.severity = SeverityOfLoss(verdict.share);
}

}  // namespace

RuleType Custom() {
  return {
      .name = "Custom",
      .sentence = "A metric that you choose is above or below a threshold.",
      .fires = "More than share of the windows of a device or node are beyond threshold.",
      .advice = "See what the job did in the stretches that are named.",
      .params = CustomParams(),
      .metrics = {},
      .steps = StepNeed::kFirst,
      .make = MakeFold<CustomFold>,
      .chosen_metrics = ChosenMetrics,
      .check = CheckCustomParams,
  };
}

}  // namespace stepscope
