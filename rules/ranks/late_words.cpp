#include "rules/ranks/late_words.h"

#include <algorithm>
#include <string_view>

#include "core/base/text.h"
#include "rules/engine/sentence.h"

namespace stepscope {
namespace {

// Phases in which a rank works, or waits for others.
constexpr Phase kWorkOrWait[] = {Phase::kForward, Phase::kLoss, Phase::kBackward, Phase::kSync};

bool IsWorkOrWait(Phase phase) {
  return std::ranges::find(kWorkOrWait, phase) != std::end(kWorkOrWait);
}

std::string NameOf(Phase phase) {
  return Format("{}{}", IsWorkOrWait(phase) ? "its own work in " : "", ToText(phase));
}

}  // namespace

Duration MeanEvaluation(const StepSums& sums) {
  return sums.steps() == 0 ? Duration() : sums.evaluation() / sums.steps();
}

StepDifferences::StepDifferences(const StepSums& late, const StepSums& others)
    : late_(late),
      outside_(late.MeanWall() - others.MeanWall()),
      evaluation_(MeanEvaluation(late) - MeanEvaluation(others)) {
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    longer_[i] = late.MeanPhase(phase) - others.MeanPhase(phase);
    outside_ -= longer_[i];
  }
}

void StepDifferences::TellLongest(LateRank::Found& found) const {
  found.what = OwnWorkIn(found.longer);
  Duration longest = found.longer / 2;
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    if (phase == Phase::kCommunication || Of(phase) <= longest) continue;
    longest = Of(phase);
    found.phase = phase;
    found.what = NameOf(phase);
  }
  if (evaluation_ > std::max(longest, outside_)) {
    found.phase = {};
    found.what = "evaluation";
  } else if (outside_ > longest) {
    found.phase = {};
    found.outside = true;
    found.what = "time outside of all phases";
  }
}

// A rank that works longer in the call in which all others wait has no phase that is longer.
std::string StepDifferences::OwnWorkIn(Duration lost) const {
  const Phase most = std::ranges::max(kWorkOrWait, {}, [&](Phase phase) { return Of(phase); });
  if (Of(most) > lost / 2) return NameOf(most);
  std::string names;
  for (const Phase phase : kWorkOrWait) {
    if (late_.MeanPhase(phase) < lost) continue;
    names += Format("{}{}", names.empty() ? " in " : " or ", ToText(phase));
  }
  return "its own work" + names;
}

std::string StepDifferences::WaitsIn(Duration lost) const {
  std::string_view most;
  Duration least = -lost / 2;
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    const bool waits = IsWorkOrWait(phase) || phase == Phase::kCommunication;
    if (!waits || Of(phase) > least) continue;
    least = Of(phase);
    most = ToText(phase);
  }
  return std::string(most);
}

std::string Sentence(const LateRank::Found& found) {
  std::string text =
      Format("Rank {} on node {} is late: it works {} longer than the median rank on a step ",
             found.rank, found.node, StepText(found.longer));
  text += Format("({:.0f} % of it), mostly {}", found.lost * 100, found.what);
  if (found.also > 0) text += Format("; so {} {} more", found.also == 1 ? "is" : "are", found.also);
  if (found.waits.empty()) return text + "; the others wait for it.";
  return text + Format("; the others wait for it in {}.", found.waits);
}

}  // namespace stepscope
