#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "rules/engine/state.h"

namespace stepscope {

// The parameter of every rule that does not judge the start of a job.
inline constexpr Param kPatience = {
    "patience",
    1000,
    0,
    10'000'000,
    "samples",
    "Initialisation that is not judged; it ends with the first training step when there is one."};

// The start of a job, which is not judged. It ends with the first training step; when no training
// process has connected, after `patience` ticks of a node. A process that connects and never
// reports a step (it may only annotate) is waited for at most kLongestWait. Without patience the
// ticks before a process connects are judged, and forgotten with the first step.
class Initialisation {
 public:
  static constexpr Duration kLongestWait = 20min;

  Initialisation(std::int64_t patience, const JobFacts& facts)
      : patience_(patience), first_rank_(facts.first_rank) {}

  enum class Tick {
    kNotJudged,
    kFirstAfterStep,  // judged; samples of the node from before this tick were initialisation
    kJudged,
  };
  void Observe(const StepView& steps);
  // Counts the next tick of the node and returns whether it is judged; all ticks are once
  // IsOver(node).
  Tick Observe(std::string_view node, Time at);

  bool IsOver(std::string_view node) const;
  // The end of the first step of any rank.
  const std::optional<Time>& first_step_end() const { return first_step_end_; }
  // The reason why nothing is judged yet: "486 of 1,000 samples seen".
  std::string Reason() const;

  template <typename State>
  void Fields(State& state) {
    state("first_step_end", first_step_end_);
    state("nodes", nodes_, [] { return Node(); });
  }

 private:
  struct Node {
    std::int64_t seen = 0;  // ticks until the initialisation was over
    bool over = false;
    bool stepped = false;  // the initialisation ended with a step

    template <typename State>
    void Fields(State& state) {
      state("seen", seen);
      state("over", over);
      state("stepped", stepped);
    }
  };
  bool IsStepExpected(Time at) const;

  std::int64_t patience_;
  std::optional<Time> first_rank_;
  std::optional<Time> first_step_end_;
  std::map<std::string, Node, std::less<>> nodes_;
};

}  // namespace stepscope
