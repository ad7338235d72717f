#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "rules/engine/state.h"

namespace stepscope {

// Up to where a rule has seen its job. Saved with the rule's state in one transaction.
struct Watermark {
  std::optional<Time> origin;  // the job's first tick; scans are due at multiples from here
  std::int64_t scans = 0;      // multiples of the scan interval that are behind
  bool fresh = false;          // ticks were shown since the last scan
  std::optional<Time> look;    // when the fold is looked at next, before the next scan
  std::map<std::string, Time, std::less<>> nodes;  // last tick shown, by name
  std::map<int, Time, std::less<>> ranks;          // start of the last step shown
  std::optional<Time> removed_until;  // what was measured before was removed before it was seen
  std::int64_t starts_anew = 0;       // since a state loaded

  template <typename State>
  void Fields(State& state) {
    state("origin", origin);
    state("scans", scans);
    state("fresh", fresh);
    state("look", look);
    state("nodes", nodes, [] { return Time(); });
    state("ranks", ranks, [] { return Time(); });
    state("removed_until", removed_until);
    state("starts_anew", starts_anew);
  }
};

}  // namespace stepscope
