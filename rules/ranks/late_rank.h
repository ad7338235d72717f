#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/time.h"
#include "rules/engine/rule.h"
#include "rules/engine/state.h"
#include "rules/ranks/rank_comparison.h"
#include "rules/ranks/rank_work.h"

namespace stepscope {

// Which rank of a training the others wait for. Ranks that step together have steps of equal
// length: whichever call the others wait in, the rank that does not wait is the late one. It is
// known by its own work: longer phases in which nobody waits for another rank, less time in
// collectives that the training calls, or, where a thread sleeps while it waits, more CPU time of
// its training thread. State is bounded for each rank; a step costs O(1).
class LateRank {
 public:
  // The part by which the late rank's work is longer than that of the median rank.
  static constexpr double kThreshold = 0.10;

  struct Found {
    int rank = 0;
    std::string node;
    double lost = 0;    // part of a step that the median of the other ranks waits for it, 0 to 1
    Duration longer{};  // so long is that part of a step
    std::string what;   // what takes longer: "data", "its own work in forward"
    // Whether that is no phase, and else which one; none where only its thread tells.
    bool outside = false;
    std::optional<Phase> phase;
    std::string waits;       // the phase in which the others wait; "" when it is not known
    std::size_t also = 0;    // number of other ranks that are about as late
    bool active = false;     // it was late in the newest minutes, too
    std::int64_t steps = 0;  // steps that were compared
    double late = 0;         // part of the step time in which it was late, 0 to 1
    Duration fresh{};        // step time that the newest scan added
    Time from{}, to{};       // begin and end of the time in which it was late
  };

  // The metrics that it needs, besides all steps.
  static std::span<const std::string_view> Metrics();

  explicit LateRank(const JobFacts& facts, double threshold = kThreshold);

  void Observe(const StepView& steps);
  void Observe(const TickView& ticks);
  // All steps and ticks before `at` were observed; they are judged from now on.
  void Scan(Time at);

  std::optional<Found> Find() const { return Judge().found; }
  // The reason why it is not known whether a rank is late; "" when one is found, or none is late.
  std::string Reason() const { return Judge().reason; }
  struct Judgement {
    std::optional<Found> found;
    std::string reason;
  };
  Judgement Judge() const;

  // The steps of a rank up to the newest scan, and its node.
  struct Rank {
    std::string node;
    RankWork work;
    std::optional<Time> begin, first_end;  // begin and end of its first step

    template <typename State>
    void Fields(State& state) {
      state("node", node);
      state("work", work);
      state("begin", begin);
      state("first_end", first_end);
    }
  };
  const std::map<int, Rank, std::less<>>& ranks() const { return ranks_; }

  template <typename State>
  void Fields(State& state) {
    state("open", open_, [] { return OpenBin(); });
    state("ranks", ranks_, [] { return Rank(); });
    state("gpus", gpus_, [] { return Gpu(); });
    state("first_end", first_end_);
    state("doubled", doubled_);
  }

 private:
  struct OpenRank {
    StepSums steps;
    std::int64_t dry_us = 0, dry_steps = 0;
    std::int64_t thread = 0, samples = 0;

    WorkSums Samples() const;
    template <typename State>
    void Fields(State& state) {
      state("steps", steps);
      state("dry_us", dry_us);
      state("dry_steps", dry_steps);
      state("thread", thread);
      state("samples", samples);
    }
  };
  struct OpenBin {
    std::map<int, OpenRank, std::less<>> ranks;

    template <typename State>
    void Fields(State& state) {
      state("ranks", ranks, [] { return OpenRank(); });
    }
  };
  struct Gpu {
    std::int64_t busy = 0, samples = 0;  // use in 1/100 %, summed over samples

    template <typename State>
    void Fields(State& state) {
      state("busy", busy);
      state("samples", samples);
    }
  };
  using Evidence = RankComparison::Lateness;

  OpenRank* At(Time at, int rank);
  void Close(std::int64_t bin, const OpenBin& open);
  bool IsTooLong() const;
  bool IdlesEnough(const std::string& node, double lost) const;
  bool Contradicts(const RankComparison& ranks, const Evidence& late) const;
  std::vector<WorkMeasure> Measures(const RankComparison& ranks) const;
  bool NobodySleeps(const RankComparison& ranks) const;
  bool OthersSleep(const RankComparison& ranks, const Evidence& late) const;
  Judgement JudgePhases(const RankComparison& ranks) const;
  Judgement JudgeThreads(const RankComparison& ranks) const;
  Found Describe(const RankComparison& ranks, const Evidence& late, WorkMeasure measure) const;

  double limit_;  // part of a step that is too much
  bool hidden_;   // some rank's waits are not among its phases
  bool sleeps_;   // a thread that waits for other ranks sleeps
  bool on_gpu_;   // host times say nothing of the GPU's work

  std::map<std::int64_t, OpenBin, std::less<>> open_;  // bins of RankWork::kBin
  std::map<int, Rank, std::less<>> ranks_;
  std::map<Subject, Gpu, std::less<>> gpus_;  // since the first step ended
  std::optional<Time> first_end_;
  std::int64_t doubled_ = 0;  // bins of ranks_ are RankWork::kBin << doubled_ long
};

}  // namespace stepscope
