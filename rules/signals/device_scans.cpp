#include "rules/signals/device_scans.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "rules/engine/sentence.h"

namespace stepscope {

void DeviceScans::Begin(Time at) {
  at_ = at;
  time_.Begin(at);
  active_ = false;
  judged_before_ = judged_;
  is_early_ = std::exchange(next_is_early_, false);
}

// Returns whether this is a new trigger: an early scan may have counted it already.
bool DeviceScans::Count(const Subject& subject, bool triggers) {
  Device& device = devices_[subject];
  const auto early = early_.find(subject);
  const bool judged = early != early_.end(), triggered = judged && early->second;
  if (!judged) ++device.scans, ++judged_;
  const bool one_more = triggers && !triggered;
  if (one_more) ++device.triggers, ++triggers_;
  if (is_early_) early_[subject] = triggers;
  return one_more;
}

void DeviceScans::Clear(const Subject& subject) {
  Count(subject, false);
  time_.Clear();
}

void DeviceScans::Trigger(const Finding& finding, double lost, Duration gap) {
  if (Count(finding.subject, true)) last_ = at_;
  time_.Trigger(lost);
  active_ = true;
  if (!fired_) fired_ = at_;
  findings_.Trigger(finding.subject, finding.from, finding.to, finding.sentence, finding.evidence,
                    gap);
}

void DeviceScans::End() {
  if (judged_ > judged_before_ && (is_early_ || early_.empty())) ++scans_;
  if (!is_early_) early_.clear();
}

DeviceScans::Device DeviceScans::Of(const Subject& subject) const {
  const auto found = devices_.find(subject);
  return found == devices_.end() ? Device{} : found->second;
}

std::string DeviceScans::FiredText(const std::string& device) const {
  const auto fired =
      std::ranges::count_if(devices_, [](const auto& each) { return each.second.triggers > 0; });
  std::string text = Format("{} of {} fired {} in {}", fired, CountText(devices(), device),
                            CountText(triggers_, "time"), CountText(scans_, "scan"));
  if (active_ || !first_) return text;
  return text + Format(", the last {} after the first sample", LengthText(*last_ - *first_));
}

Verdict DeviceScans::Judge() const {
  Verdict verdict;
  verdict.kind = triggers_ > 0 ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.evidence = {{"triggers", triggers_},
                      {"judged", judged_},
                      {"scans", scans_},
                      {"findings_left_out", findings_.left_out()}};
  if (triggers_ == 0) return verdict;
  verdict.share = time_.Share();
  verdict.severity = SeverityOfLoss(time_.Lost());
  verdict.active = active_;
  verdict.fired = fired_;
  verdict.evidence["first_trigger_us"] = ToMicros(*fired_);
  verdict.evidence["last_trigger_us"] = ToMicros(*last_);
  return verdict;
}

std::string WithoutSamples(const JobFacts& facts, const Initialisation& start,
                           const std::vector<Subject>& devices, std::string_view metric) {
  if (std::ranges::any_of(devices, [&](const auto& each) { return start.IsOver(each.node); })) {
    return "";
  }
  if (!devices.empty() || facts.nodes.empty()) return start.Reason();
  if (facts.Gpus() == 0) return "no GPU on any node";
  const auto over = [&](const NodeFacts& node) { return start.IsOver(node.name); };
  if (std::ranges::any_of(facts.nodes, over)) return Format("no GPU gives samples of {}", metric);
  return start.Reason();
}

std::string GpuText(const Subject& subject) {
  return Format("GPU {} of node {}", subject.device, subject.node);
}

}  // namespace stepscope
