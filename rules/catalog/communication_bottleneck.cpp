// A training process waits for other ranks for a large share of its time.

#include <algorithm>
#include <memory>
#include <string>

#include "core/base/text.h"
#include "rules/engine/state.h"
#include "rules/ranks/late_rank.h"
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

// The share of the waits, and the rank that they are for where one is known to be late: then
// neither the network nor the exchange is to blame.
class CommunicationFold : public Fold {
 public:
  CommunicationFold(const Params& params, const JobFacts& facts) : late_rank_(facts) {
    const bool hides =
        facts.ranks.size() > 1 && std::ranges::any_of(facts.ranks, &RankFacts::hides_communication);
    const std::string hidden(hides ? kHidden : "");
    share_ = MakePhaseShare({Phase::kCommunication, "for other ranks", hidden}, params, facts);
  }

  void Observe(const StepView& steps) override {
    share_->Observe(steps);
    late_rank_.Observe(steps);
  }
  void Observe(const TickView& ticks) override { late_rank_.Observe(ticks); }
  void Scan(Time at) override { late_rank_.Scan(at); }
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return share_->TakeFindings(); }

  std::string Save() const override;
  Status Load(std::string_view state) override;

 private:
  std::unique_ptr<Fold> share_;
  LateRank late_rank_;
};

Verdict CommunicationFold::Judge() const {
  Verdict verdict = share_->Judge();
  const auto late = late_rank_.Find();
  if (verdict.kind != VerdictKind::kFinding || !late) return verdict;
  verdict.sentence += Format(" They wait for rank {}, which is late.", late->rank);
  verdict.evidence["late_rank"] = late->rank;
  verdict.evidence["advice"] =
      Format("See what makes rank {} late first, mostly {}: Straggler says more of it.", late->rank,
             late->what);
  return verdict;
}

std::string CommunicationFold::Save() const {
  StateWriter writer;
  writer("share", share_->Save());
  writer("late_rank", late_rank_);
  return std::move(writer.bytes);
}

// A version that knew no late rank saved the share alone.
Status CommunicationFold::Load(std::string_view state) {
  Status status;
  StateReader reader(state, status);
  if (!reader.Comes("share")) return share_->Load(state);
  std::string share;
  reader("share", share);
  reader("late_rank", late_rank_);
  reader.End();
  return status.ok() ? share_->Load(share) : status;
}

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
          "nodes.",
      .params = kParams,
      .metrics = LateRank::Metrics(),
      .steps = StepNeed::kAll,
      .make = MakeFold<CommunicationFold>,
  };
}

}  // namespace stepscope
