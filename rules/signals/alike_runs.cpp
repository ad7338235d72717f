#include "rules/signals/alike_runs.h"

#include "core/base/text.h"
#include "rules/signals/setup.h"
#include "rules/signals/step_pace.h"

namespace stepscope {
namespace {

constexpr std::size_t kMost = 3;

}  // namespace

AlikeRuns::AlikeRuns(const JobFacts& facts) : setup_(SetupOf(facts)) {
  for (const EarlierRun& run : facts.earlier_runs) {
    runs_.emplace(std::ssize(runs_), Run{run.step_s, run.setup});
  }
  Choose();
}

void AlikeRuns::Choose() {
  steps_.clear();
  for (const auto& [age, run] : runs_) {
    const bool alike = !setup_.empty() && run.setup == setup_;
    if (alike && steps_.size() < kMost) steps_.push_back(run.step_s);
  }
}

double AlikeRuns::Middle() const {
  return MiddleOf(steps_);
}

std::string AlikeRuns::WhyNone() const {
  if (runs_.empty() || !steps_.empty() || setup_.empty()) return "";
  const std::string& other = runs_.begin()->second.setup;
  return Format(
      "Earlier runs of its group are not compared with, since none was like this one, with {}; {}.",
      setup_, other.empty() ? "what the newest ran on is not known" : "the newest had " + other);
}

}  // namespace stepscope
