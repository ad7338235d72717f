#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "core/model/step.h"
#include "rules/packing.h"
#include "rules/state.h"

namespace stepscope {

// What made a step longer: a phase, or time outside of all phases.
inline constexpr std::size_t kGrowths = kPhaseCount + 1;

// Slow steps without another step between them.
struct SlowRun {
  std::int64_t at = 0;  // position of the first of them among all steps of the rank
  Time from{}, to{};
  std::int64_t excess_ns = 0;  // above as many usual steps
  std::size_t grew = 0;        // a phase, or kPhaseCount for time outside of them
};

// Slow runs that come every `period` steps.
struct Rhythm {
  static constexpr std::size_t kMostKept = 64;

  double period = 0;                 // of the newest beats
  std::int64_t first = 0, last = 0;  // positions of beats
  std::int64_t beats = 0, missed = 0;
  Time from{}, to{};
  std::int64_t excess_ns = 0;
  std::array<std::int64_t, kGrowths> grew_ns{};  // the same, by what grew
  PackedMap newest;                              // excess of beats, by position

  // A step at `position` finds it over: several beats did not come.
  bool IsOver(std::int64_t position) const;
  // Takes the run when it is the next beat, or the one after it.
  bool Take(const SlowRun& run);
  void Count(const SlowRun& run);
  // Part of the time from its first beat to its newest, 0 to 1.
  double Cost() const;
  std::size_t Grew() const;  // most

  template <typename State>
  void Fields(State& state) {
    state("period", period);
    state("first", first);
    state("last", last);
    state("beats", beats);
    state("missed", missed);
    state("from", from);
    state("to", to);
    state("excess_ns", excess_ns);
    for (std::size_t i = 0; i < kGrowths; ++i) state("grew_" + std::to_string(i), grew_ns[i]);
    state("newest", newest);
  }
};

// Runs that no rhythm has, by position: the newest ones.
class LooseRuns {
 public:
  static constexpr std::size_t kMost = 256;

  void Add(const SlowRun& run);
  void Remove(std::int64_t at) { runs_.erase(at); }
  const std::map<std::int64_t, SlowRun, std::less<>>& runs() const { return runs_; }

  std::string Save() const;
  Status Load(const Json& packed);

 private:
  std::map<std::int64_t, SlowRun, std::less<>> runs_;
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

  // The run is newer than all before it. The rhythm that it is a beat of, or null.
  const Rhythm* Add(const SlowRun& run, std::int64_t least_repeats);

  std::int64_t runs() const { return seen_; }
  const std::map<std::int64_t, Rhythm, std::less<>>& all() const { return rhythms_; }

  template <typename State>
  void Fields(State& state) {
    state("seen", seen_);
    state("next", next_);
    state("loose", loose_);
    state("rhythms", rhythms_, [] { return Rhythm(); });
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

  std::int64_t seen_ = 0, next_ = 1;
  LooseRuns loose_;
  std::map<std::int64_t, Rhythm, std::less<>> rhythms_;  // by number
};

}  // namespace stepscope
