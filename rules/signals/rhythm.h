#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rules/engine/state.h"
#include "rules/signals/slow_runs.h"

namespace stepscope {

// Slow runs that come every `period` steps.
struct Rhythm {
  double period = 0;      // steps between the newest beats
  std::int64_t last = 0;  // position of a beat
  std::int64_t beats = 0, missed = 0;
  Time from{}, to{};
  std::int64_t excess_ns = 0;
  std::array<std::int64_t, kGrowths> grew_ns{};  // excess by the phase that grew
  // The number of the newest beats in which the host was seen, and in which it showed each sign.
  std::int64_t seen = 0;
  std::array<std::int64_t, 3> shown{};

  // Whether the rhythm has ended at `position`: several beats did not come.
  bool IsOver(std::int64_t position) const;
  // Takes the run when it is the next beat, or the beat after that.
  bool Take(const SlowRun& run);
  void Count(const SlowRun& run);
  // Counts the signs of the host in one of the beats.
  void Tell(unsigned signs);
  // The signs of the host in most of the newest beats, with kSeen when it was seen at all.
  unsigned Signs() const;
  // Part of the time from its first beat to its newest, 0 to 1.
  double Cost() const;
  std::size_t Grew() const;  // the phase that grew most
  std::string GrewText() const;
  // Whether it is the job's own: gradients over several batches hold nothing up.
  bool IsOwnWork() const;

  std::string Save() const;
  Status Load(std::string_view packed);
};

// The rhythms of a rank. A run that no known rhythm takes may end a chain of older runs of about
// its size that are equally far apart; when such a chain is too regular for chance, it is a rhythm.
//
// How regular: with `rate` runs of that size in a step, one lies within d steps of where the next
// beat is expected with probability p = 1 - (1 - rate)^(2d + 1). By Chernoff's bound (Hoeffding
// 1963, theorem 1) h hits or more in t trials have a probability of at most exp(-t KL(h/t || p)).
// All chains that are ever tried share a chance of kChance of being wrong: the n-th run of a rank
// has kChance / (n (n + 1)) of it, divided by the chains that end in it.
class Rhythms {
 public:
  static constexpr std::size_t kMost = 8, kMostLive = 4;

  // Adds a run, which must be newer than all before it. Returns the rhythm that it is a beat of, or
  // null.
  const Rhythm* Add(const SlowRun& run, std::int64_t least_repeats);
  // The signs of the host in the run at a position, which was added without them.
  void Tell(std::int64_t at, unsigned signs);

  std::int64_t runs() const { return seen_; }
  const std::map<std::int64_t, Rhythm, std::less<>>& all() const { return rhythms_; }

  template <typename State>
  void Fields(State& state) {
    state("seen", seen_);
    state("next", next_);
    state("loose", loose_);
    state("rhythms", rhythms_, [] { return Rhythm(); });
    state("untold", untold_, [] { return std::int64_t{0}; });
  }

 private:
  struct Chain {
    std::vector<std::int64_t> beats;  // newest first
    std::int64_t trials = 0, furthest = 0;
    double period = 0;
  };
  static Chain ChainOf(const std::vector<std::int64_t>& at, std::size_t second);
  static bool IsTooRegular(const Chain& chain, const std::vector<std::int64_t>& at, double chance);
  Chain Longest(const SlowRun& run, std::int64_t least_repeats) const;
  const Rhythm* Begin(const Chain& chain);
  void Count(std::int64_t number, Rhythm& rhythm, const SlowRun& run);

  std::int64_t seen_ = 0, next_ = 1;
  SlowRuns loose_;                                       // the runs that belong to no rhythm
  std::map<std::int64_t, Rhythm, std::less<>> rhythms_;  // by number
  std::map<std::int64_t, std::int64_t, std::less<>>
      untold_;  // rhythm numbers of beats whose signs are not known yet, by position
};

}  // namespace stepscope
