#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rules/engine/state.h"

namespace stepscope {

// Joins neighbouring triggers of a subject into stretches of time, so that a bad hour is one
// finding and not 60. Keeps the newest stretch of each subject only; at most `kMost` findings are
// made, the triggers of further stretches are counted in `left_out`.
class FindingTrack {
 public:
  static constexpr std::int64_t kMost = 1'000;

  // The rule fired from `from` to `to`. A stretch of the subject that reaches to `from`, or ends no
  // more than `gap` before it, is made longer and takes over the sentence and the evidence.
  void Trigger(const Subject& subject, Time from, Time to, std::string sentence, Json evidence,
               Duration gap = {});
  // Whether a trigger from `from` on makes a stretch longer.
  bool Joins(const Subject& subject, Time from, Duration gap = {}) const;

  // Findings that are new or longer since the last call.
  std::vector<Finding> Take();

  std::int64_t count() const { return next_ - 1; }
  std::int64_t left_out() const { return left_out_; }

  template <typename State>
  void Fields(State& state) {
    state("next", next_);
    state("left_out", left_out_);
    state("newest", newest_, [] { return Stretch(); });
  }

 private:
  struct Stretch {
    std::int64_t number = 0;
    Time from{}, to{};

    template <typename State>
    void Fields(State& state) {
      state("number", number);
      state("from", from);
      state("to", to);
    }
  };
  std::map<Subject, Stretch, std::less<>> newest_;
  std::map<std::int64_t, Finding> changed_;
  std::int64_t next_ = 1;
  std::int64_t left_out_ = 0;
};

}  // namespace stepscope
