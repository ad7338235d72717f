// A training process waits for other ranks for a large share of its time.

#include <algorithm>

#include "rules/signals/phase_share.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 15, 0, 100, "%",
     "Share of the step time spent in communication that counts as a bottleneck."},
    {.name = "moderate",
     .fallback = 3,
     .least = 0,
     .most = 100,
     .unit = "%",
     .help = "Share from which the communication is worth a look; not above threshold.",
     .not_above = "threshold"},
    {"min_steps", 20, 1, kMostMinSteps, "steps",
     "Steps needed before the rule speaks; they must also be 10 s of step time."},
};
constexpr std::string_view kHidden =
    "what the ranks send during the backward pass or on the GPU's queue is not apart from it; that "
    "needs operator traces";

}  // namespace

RuleType CommunicationBottleneck() {
  return {
      .name = "CommunicationBottleneck",
      .sentence = "A training process waits for other ranks for a large share of its time.",
      .fires =
          "A rank waits for other ranks, not hidden behind computing, for more than threshold of "
          "its "
          "step time, its first step and its longest wait left out. Between moderate and threshold "
          "it is clear, with low severity.",
      .advice =
          "Overlap the gradient exchange with the backward pass, exchange less often (accumulate "
          "gradients) or in fewer bytes (bf16, larger buckets), and check the network between the "
          "nodes; when one rank is always last, look at Straggler first.",
      .params = kParams,
      .metrics = {},
      .steps = StepNeed::kAll,
      .make =
          [](const Params& params, const JobFacts& facts) {
            const bool hides = facts.ranks.size() > 1 &&
                               std::ranges::any_of(facts.ranks, &RankFacts::hides_communication);
            const std::string hidden(hides ? kHidden : "");
            return MakePhaseShare({Phase::kCommunication, "for other ranks", hidden}, params,
                                  facts);
          },
  };
}

}  // namespace stepscope
