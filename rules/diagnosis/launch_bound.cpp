#include "rules/diagnosis/launch_bound.h"

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr double kLeastComputing = 0.9;

}  // namespace

bool MostlyComputes(const StepSums& steps) {
  const double wall = ToSeconds(steps.wall());
  if (wall <= 0) return true;
  const double named = steps.NamedSeconds() / wall, computing = steps.ComputingSeconds() / wall;
  return named == 0 || computing >= kLeastComputing ||
         (computing == 0 && named < 1 - kLeastComputing);
}

double MeanStepSeconds(const StepSums& steps) {
  return steps.steps() > 0 ? ToSeconds(steps.wall()) / static_cast<double>(steps.steps()) : 0;
}

Verdict JudgeLaunches(const WindowEvidence& windows, double threshold, Verdict verdict) {
  const double bound = windows.LaunchBound();
  const bool fires = bound > threshold;
  verdict.kind = fires ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.sentence =
      Format("The GPUs waited for launches {:.1f} % of the time; the threshold is {:g} %. {}",
             bound * 100, threshold * 100, SentenceOf(windows));
  if (!fires) return verdict;
  verdict.share = bound;
  verdict.active = true;
  verdict.severity = SeverityOfLoss(bound);
  return verdict;
}

}  // namespace stepscope
