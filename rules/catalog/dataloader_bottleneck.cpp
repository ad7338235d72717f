// A training process waits for its next batch for a large share of its time.

#include <algorithm>

#include "rules/signals/phase_share.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 20, 0, 100, "%",
     "Share of the step time spent waiting that counts as a bottleneck."},
    {.name = "moderate",
     .fallback = 5,
     .least = 0,
     .most = 100,
     .unit = "%",
     .help = "Share from which the wait is worth a look; not above threshold.",
     .not_above = "threshold"},
    {"min_steps", 20, 1, kMostMinSteps, "steps",
     "Steps needed before the rule speaks; they must also be 10 s of step time."},
};

constexpr char kUnseen[] =
    "no step tells of a wait for data; a loop without PyTorch's DataLoader goes through "
    "stepscope.loader";

constexpr char kHidden[] =
    "batches reach the training through another thread than that of its loader, so that waits for "
    "them are not seen; mark them with stepscope.phase(\"data\")";

}  // namespace

RuleType DataloaderBottleneck() {
  return {
      .name = "DataloaderBottleneck",
      .sentence = "A training process waits for its next batch for a large share of its time.",
      .fires =
          "A rank waits for its next batch for more than threshold of its step time, its first "
          "step "
          "and its longest wait left out; in which steps the waits are does not matter. Where the "
          "GPU's clock is known, a wait counts only as far as the GPU had nothing to do. Between "
          "moderate and threshold it is clear, with low severity.",
      .advice =
          "Use more data-loader workers or start them once, fetch batches ahead, keep decoded or "
          "uncompressed files near the GPUs, and move preprocessing out of the training process.",
      .params = kParams,
      .metrics = {},
      .steps = StepNeed::kAll,
      .make =
          [](const Params& params, const JobFacts& facts) {
            const bool hidden = std::ranges::any_of(facts.ranks, &RankFacts::hides_data);
            return MakePhaseShare(
                {Phase::kData, "for its next batch", hidden ? kHidden : "", kUnseen}, params,
                facts);
          },
  };
}

}  // namespace stepscope
