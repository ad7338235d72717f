#include "rules/catalog/catalog.h"

#include <algorithm>

namespace stepscope {

// Each rule is defined in the file of its name.
RuleType LowGpuUtilization();
RuleType CpuBottleneck();
RuleType IoBottleneck();
RuleType BatchSize();
RuleType IdleGpu();
RuleType GpuThrottled();
RuleType Throttled();
RuleType GpuMemoryIncrease();
RuleType NetworkBottleneck();
RuleType LoadBalancing();
RuleType MemoryLeak();
RuleType DataloaderBottleneck();
RuleType Dataloader();
RuleType CommunicationBottleneck();
RuleType Straggler();
RuleType FrameworkOverhead();
RuleType StepOutlier();
RuleType StepTimeRegression();
RuleType StepTimeTrend();
RuleType PeriodicStall();
RuleType StalledTraining();
RuleType MaxInitializationTime();
RuleType OverallFrameworkMetrics();
RuleType GrowingUpload();
RuleType OverallSystemUsage();
RuleType ProfilerReport();
RuleType Custom();

std::span<const RuleType> Catalog() {
  // clang-format off: a rule a line, so that a new rule changes no other line.
  static const RuleType kRules[] = {
      LowGpuUtilization(),
      CpuBottleneck(),
      IoBottleneck(),
      BatchSize(),
      IdleGpu(),
      GpuThrottled(),
      Throttled(),
      GpuMemoryIncrease(),
      NetworkBottleneck(),
      LoadBalancing(),
      MemoryLeak(),
      DataloaderBottleneck(),
      Dataloader(),
      CommunicationBottleneck(),
      Straggler(),
      FrameworkOverhead(),
      StepOutlier(),
      StepTimeRegression(),
      StepTimeTrend(),
      PeriodicStall(),
      StalledTraining(),
      MaxInitializationTime(),
      OverallFrameworkMetrics(),
      GrowingUpload(),
      OverallSystemUsage(),
      ProfilerReport(),
  };
  // clang-format on
  return kRules;
}

const RuleType& CustomRule() {
  static const RuleType kRule = Custom();
  return kRule;
}

const RuleType* FindRule(std::string_view name) {
  if (name == CustomRule().name) return &CustomRule();
  const auto rules = Catalog();
  const auto found = std::ranges::find(rules, name, &RuleType::name);
  return found == rules.end() ? nullptr : &*found;
}

bool SumsUp(std::string_view name) {
  const RuleType* rule = FindRule(name);
  return rule != nullptr && rule->sums_up;
}

Result<Json> CompleteParameters(const RuleType& rule, const Json& given) {
  Result<Json> complete = CompleteParams(rule.name, rule.params, given);
  if (!complete.ok() || rule.check == nullptr) return complete;
  const Status good = rule.check(*complete);
  return good.ok() ? std::move(complete) : good.error();
}

}  // namespace stepscope
