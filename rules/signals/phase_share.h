#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/model/step.h"
#include "rules/engine/rule.h"

namespace stepscope {

// A rule about a phase in which a training process waits, with its words.
struct PhaseShare {
  Phase phase = Phase::kOther;
  std::string_view waits;        // "waited 12 % of the time ... <for its next batch>"
  std::string hidden;            // why a small share proves nothing; "" when it does
  std::string_view unseen = "";  // the reason when no step has the phase; "": no wait
};

inline constexpr std::int64_t kMostMinSteps = 10'000;

// Fires when a rank waited more of its step time than `threshold`, its first step and its longest
// wait left out; a share between `moderate` and `threshold` is clear, with low severity. Time
// counts, not steps, and of a wait for data only what left the GPU idle, where its clock is known.
// Waits that come in bursts are as long as those that come in each step. Judges
// from `min_steps` steps on that took kLeastStepTime together: workers that are still starting say
// nothing about the job.
inline constexpr Duration kLeastStepTime = 10s;
std::unique_ptr<Fold> MakePhaseShare(const PhaseShare& share, const Params& params,
                                     const JobFacts& facts);

}  // namespace stepscope
