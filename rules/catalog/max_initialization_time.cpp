// The first training step takes too long to come.

#include <algorithm>
#include <chrono>

#include "core/base/text.h"
#include "rules/engine/finding_track.h"
#include "rules/engine/sentence.h"
#include "rules/engine/state.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 20, 0, 10'080, "minutes", "Time to the first step that is too long."},
};
constexpr std::string_view kMetrics[] = {"node_cpu_percent"};  // for the time that has passed

class InitializationFold : public FieldsFold<InitializationFold> {
 public:
  InitializationFold(const Params& params, const JobFacts& facts)
      : facts_(facts),
        threshold_(static_cast<std::int64_t>(params["threshold"] * 60e9)),
        started_(facts.started) {}

  void Observe(const StepView& steps) override;
  void Observe(const TickView&) override {}
  void Scan(Time at) override;
  Time NextCheck(Time at) const override;
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }

  template <typename State>
  void Fields(State& state) {
    state("findings", findings_);
    state("first_step", first_step_);
    state("scanned", scanned_);
  }

 private:
  std::optional<Time> End() const;  // end of the initialisation, as far as it is known
  bool Fires() const { return started_ && End() && *End() - *started_ > threshold_; }
  bool Seen() const { return first_step_ && (!scanned_ || *first_step_ <= *scanned_); }
  std::string Describe() const;
  std::string Missing() const;

  JobFacts facts_;
  Duration threshold_;
  std::optional<Time> started_;

  FindingTrack findings_;
  std::optional<Time> first_step_, scanned_;  // end of the first step; the newest scan
};

void InitializationFold::Observe(const StepView& steps) {
  for (const Step& step : steps.steps) {
    const Time end = EndedAt(step);
    if (!first_step_ || end < *first_step_) first_step_ = end;
  }
}

// A job without connected processes has no steps: it is not known when its training began.
std::optional<Time> InitializationFold::End() const {
  if (!scanned_ || facts_.ranks.empty()) return first_step_;
  return first_step_ ? std::min(*first_step_, *scanned_) : *scanned_;
}

void InitializationFold::Scan(Time at) {
  const bool known = scanned_ && first_step_ && *first_step_ <= *scanned_;
  scanned_ = at;
  if (known || facts_.removed_until || !Fires()) return;
  findings_.Trigger({}, *started_, *End(), Describe(),
                    {{"seconds", std::chrono::duration<double>(*End() - *started_).count()}});
}

Time InitializationFold::NextCheck(Time at) const {
  const bool seen = first_step_ && *first_step_ <= at;
  if (!started_ || seen || facts_.ranks.empty() || facts_.removed_until || findings_.count() > 0) {
    return Time::max();
  }
  return std::max(at, *started_ + threshold_ + 1us);
}

std::string InitializationFold::Describe() const {
  const std::string length = LengthText(*End() - *started_);
  return Format("{} {} after the start of the job; the threshold is {}.",
                Seen() ? "The first step ended" : "No step had ended", length,
                LengthText(threshold_));
}

// ": <reason>" when a node knows why its processes report no steps.
std::string InitializationFold::Missing() const {
  const auto node = std::ranges::find_if(
      facts_.nodes, [](const NodeFacts& each) { return !each.hooks_missing.empty(); });
  return node == facts_.nodes.end() ? "" : ": " + node->hooks_missing;
}

Verdict InitializationFold::Judge() const {
  if (facts_.removed_until) return Unknown("the start of the job is not stored any more");
  // A first step in time is a verdict at once; any other verdict waits for the scan.
  if (!started_ || (!scanned_ && (!Seen() || Fires()))) return Unknown("no samples yet");
  if (!Fires() && !Seen()) {
    if (facts_.ranks.empty()) return Unknown("no training process has connected" + Missing());
    return Unknown(Format("no step has ended {} after the start of the job; judged at {}",
                          LengthText(*scanned_ - *started_), LengthText(threshold_)));
  }
  Verdict verdict;
  verdict.kind = Fires() ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.sentence = Describe();
  verdict.evidence = {{"seconds", std::chrono::duration<double>(*End() - *started_).count()},
                      {"threshold_seconds", std::chrono::duration<double>(threshold_).count()},
                      {"first_step_seen", Seen()}};
  if (!Fires()) return verdict;
  verdict.fired = *started_ + threshold_;
  verdict.active = !Seen();
  verdict.share = std::chrono::duration<double>(*End() - *started_) /
                  std::chrono::duration<double>(*scanned_ - *started_);
  verdict.severity = SeverityOfLoss(verdict.share);
  return verdict;
}

}  // namespace

RuleType MaxInitializationTime() {
  return {
      .name = "MaxInitializationTime",
      .sentence = "The first training step takes too long to come.",
      .fires =
          "No training step ends within threshold minutes after the job's first sample, though a "
          "training process connected.",
      .advice =
          "Start before all data is there (stream it, or copy it once for all jobs), cache the "
          "data set's index and compiled kernels, and load checkpoints from a disk near the GPUs.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kFirst,
      .make = MakeFold<InitializationFold>,
  };
}

}  // namespace stepscope
