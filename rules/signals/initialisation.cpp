#include "rules/signals/initialisation.h"

#include <algorithm>

#include "core/base/text.h"
#include "rules/engine/sentence.h"

namespace stepscope {

void Initialisation::Observe(const StepView& steps) {
  for (const Step& step : steps.steps) {
    const Time end = EndedAt(step);
    if (!first_step_end_ || end < *first_step_end_) first_step_end_ = end;
  }
}

bool Initialisation::IsStepExpected(Time at) const {
  return first_rank_ && at >= *first_rank_ && at - *first_rank_ < kLongestWait;
}

Initialisation::Tick Initialisation::Observe(std::string_view name, Time at) {
  auto found = nodes_.find(name);
  if (found == nodes_.end()) found = nodes_.emplace(std::string(name), Node{}).first;
  Node& node = found->second;
  if (node.over && (patience_ > 0 || node.stepped)) return Tick::kJudged;
  ++node.seen;
  if (first_step_end_ && at >= *first_step_end_) {
    node.over = node.stepped = true;
    return Tick::kFirstAfterStep;
  }
  node.over = node.seen > patience_ && !IsStepExpected(at);
  return node.over ? Tick::kJudged : Tick::kNotJudged;
}

bool Initialisation::IsOver(std::string_view node) const {
  const auto found = nodes_.find(node);
  return found != nodes_.end() && found->second.over;
}

std::string Initialisation::Reason() const {
  std::int64_t seen = 0;
  for (const auto& [name, node] : nodes_) seen = std::max(seen, node.seen);
  if (seen == 0) return "no samples yet";
  if (seen > patience_) {
    return Format("no training step has ended yet; {} samples seen", Grouped(seen));
  }
  return Format("{} of {} samples seen", Grouped(seen), Grouped(patience_));
}

}  // namespace stepscope
