#pragma once

#include <vector>

#include "rules/engine/state.h"
#include "rules/signals/device_scans.h"
#include "rules/signals/initialisation.h"

namespace stepscope {

// What the rules that judge each device by scans have in common: they begin when the start of the
// job is over, and their findings are those of the scans. Both belong into the rule's Fields.
template <typename Rule>
class DeviceFold : public FieldsFold<Rule> {
 public:
  void Observe(const TickView& ticks) override = 0;
  void Observe(const StepView& steps) override { start_.Observe(steps); }
  void ScanEarly(Time at) override {
    scans_.BeginNextEarly();
    this->Scan(at);
  }
  std::vector<Finding> TakeFindings() override { return scans_.Take(); }

 protected:
  // `patience` in ticks of a node.
  DeviceFold(std::int64_t patience, const JobFacts& facts) : start_(patience, facts) {}

  Initialisation start_;
  DeviceScans scans_;
};

}  // namespace stepscope
