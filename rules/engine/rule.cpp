#include "rules/engine/rule.h"

#include <numeric>
#include <utility>

namespace stepscope {

std::size_t JobFacts::Gpus() const {
  return std::transform_reduce(nodes.begin(), nodes.end(), std::size_t{0}, std::plus<>(),
                               [](const NodeFacts& node) { return node.gpus; });
}

std::string_view ToText(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::kUnknown:
      return "unknown";
    case VerdictKind::kClear:
      return "clear";
    case VerdictKind::kFinding:
      return "finding";
  }
  return "unknown";
}

std::string_view ToText(Severity severity) {
  switch (severity) {
    case Severity::kNone:
      return "";
    case Severity::kLow:
      return "low";
    case Severity::kMedium:
      return "medium";
    case Severity::kHigh:
      return "high";
  }
  return "";
}

Verdict Unknown(std::string reason) {
  Verdict verdict;
  verdict.sentence = std::move(reason);
  return verdict;
}

Verdict Judge(const RuleType& rule, const Fold& fold) {
  Verdict verdict = fold.Judge();
  if (verdict.kind == VerdictKind::kFinding && !verdict.evidence.contains("advice")) {
    verdict.evidence["advice"] = rule.advice;
  }
  return verdict;
}

Severity SeverityOfLoss(double lost) {
  if (lost >= 0.3) return Severity::kHigh;
  if (lost >= 0.1) return Severity::kMedium;
  return Severity::kLow;
}

Needs NeedsOf(const RuleType& rule, const Params& params) {
  Needs needs{{rule.metrics.begin(), rule.metrics.end()}, rule.steps};
  if (rule.chosen_metrics != nullptr) needs.metrics = rule.chosen_metrics(params);
  return needs;
}

}  // namespace stepscope
