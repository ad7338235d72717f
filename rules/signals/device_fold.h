#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "rules/engine/state.h"
#include "rules/signals/device_scans.h"
#include "rules/signals/initialisation.h"
#include "rules/stats/columns.h"

namespace stepscope {

// How a verdict calls a judged device: "1 of 4 GPUs fired", and the list of all in its evidence.
struct DeviceNames {
  std::string one = "GPU", list = "gpus";
};

// A rule that judges devices by scans, once the start of the job is over: when it asks for an early
// scan, and the parts that each verdict has. `start_` and `scans_` belong into the rule's Fields.
template <typename Rule>
class ScannedFold : public FieldsFold<Rule> {
 public:
  void Observe(const TickView& ticks) override = 0;
  void Observe(const StepView& steps) override { start_.Observe(steps); }
  void ScanEarly(Time at) override {
    scans_.BeginNextEarly();
    this->Scan(at);
  }
  Time NextCheck(Time at) const override {
    return scans_.triggers() > 0 ? Time::max() : NextTrigger(at);
  }
  std::vector<Finding> TakeFindings() override { return scans_.Take(); }
  Verdict Judge() const override {
    if (!IsJudged()) return Unknown(Unjudged());
    Verdict verdict = scans_.Judge();
    verdict.sentence = verdict.kind == VerdictKind::kFinding
                           ? Format("{}; {}.", WorstText(), scans_.FiredText(names_.one))
                           : ClearText();
    verdict.evidence[names_.list] = Listed();
    Complete(verdict);
    return verdict;
  }

 protected:
  // `patience` in ticks of a node.
  ScannedFold(std::int64_t patience, const JobFacts& facts, DeviceNames names = {})
      : start_(patience, facts), facts_(facts), names_(std::move(names)) {}

  // NextCheck of a fold that has not fired yet.
  virtual Time NextTrigger(Time) const { return Time::max(); }
  virtual bool IsJudged() const { return scans_.judged() > 0; }
  virtual std::string Unjudged() const = 0;
  // Opens the sentence of a finding, without a full stop.
  virtual std::string WorstText() const = 0;
  virtual std::string ClearText() const = 0;
  virtual Json Listed() const = 0;
  // Share and severity, where those of the scans are not right, and further evidence.
  virtual void Complete(Verdict&) const {}

  Initialisation start_;
  DeviceScans scans_;
  JobFacts facts_;
  DeviceNames names_;
};

// A ScannedFold that keeps a Device for each subject. The rule gives its condition, and what it
// says of one device; the worst one opens the sentence. `devices_` belong into the Fields too.
template <typename Rule, typename Device>
class DeviceFold : public ScannedFold<Rule> {
 protected:
  using ScannedFold<Rule>::ScannedFold;
  using Devices = std::map<Subject, Device, std::less<>>;
  using Entry = typename Devices::value_type;
  using Badness = std::array<double, 4>;  // compared from its first number on
  static constexpr std::size_t kMostListed = 64;

  virtual Badness BadnessOf(const Subject& subject, const Device& device) const = 0;
  virtual std::string Describe(const Subject& subject, const Device& device) const = 0;
  virtual Json EvidenceOf(const Subject& subject, const Device& device) const = 0;
  virtual bool IsListed(const Subject&, const Device&) const { return true; }
  virtual std::vector<const Entry*> ListedDevices() const {
    std::vector<const Entry*> listed;
    for (const Entry& each : devices_) {
      if (IsListed(each.first, each.second)) listed.push_back(&each);
    }
    return listed;
  }

  // The first of the worst; at least one device must be listed.
  const Entry& Worst() const {
    const auto badness = [this](const Entry* each) { return BadnessOf(each->first, each->second); };
    const auto listed = ListedDevices();
    return **std::ranges::max_element(listed, {}, badness);
  }
  std::string WorstText() const override {
    const auto& [subject, device] = Worst();
    return Describe(subject, device);
  }
  Json Listed() const override {
    Json list = Json::array();
    for (const Entry* each : ListedDevices()) {
      if (list.size() == kMostListed) break;
      Json& row = list.emplace_back(EvidenceOf(each->first, each->second));
      row["node"] = each->first.node;
      row["device"] = each->first.device;
    }
    return list;
  }

  // Parts of wholes, 0 to 1: `part_and_whole` of each device, added up.
  template <typename PartAndWhole>
  double ShareOf(PartAndWhole part_and_whole) const {
    double part = 0, whole = 0;
    for (const auto& [subject, device] : devices_) {
      const std::pair<double, double> each = part_and_whole(subject, device);
      part += each.first, whole += each.second;
    }
    return std::min(1.0, part / std::max(whole, 1.0));
  }
  // See the function of this name: its devices are GPUs that gave samples of the metric.
  std::string WithoutSamples(std::string_view metric) const {
    std::vector<Subject> gpus;
    for (const auto& [subject, device] : devices_) gpus.push_back(subject);
    return stepscope::WithoutSamples(this->facts_, this->start_, gpus, metric);
  }
  // A node's columns of the metric, each beside its device, which is made when it is new.
  template <typename Make>
  std::vector<std::pair<Device*, const Column*>> DevicesOf(const TickView& ticks,
                                                           std::string_view metric, Make make) {
    std::vector<std::pair<Device*, const Column*>> columns;
    for (const DeviceColumn& each : ColumnsOf(ticks, metric)) {
      const Subject subject{std::string(ticks.node), each.device};
      auto found = devices_.find(subject);
      if (found == devices_.end()) found = devices_.emplace(subject, make()).first;
      columns.emplace_back(&found->second, each.column);
    }
    return columns;
  }

  Devices devices_;
};

}  // namespace stepscope
