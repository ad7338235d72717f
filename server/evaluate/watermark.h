#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "rules/engine/state.h"

namespace stepscope {

// The position up to which a rule has seen its job. Saved with the rule's state in one transaction.
struct Watermark {
  std::optional<Time> origin;      // the job's first tick; scans are due at multiples from here
  std::int64_t scans = 0;          // multiples of the scan interval that have passed
  bool fresh = false;              // ticks were shown since the last scan
  std::optional<Time> next_check;  // time of the fold's next check, before the next scan
  std::map<std::string, Time, std::less<>> nodes;  // last tick shown, by name
  std::map<int, Time, std::less<>> ranks;          // start of the last step shown
  std::optional<Time> removed_until;  // samples from before this time were removed unseen
  std::int64_t starts_anew = 0;       // starts since a state last loaded

  template <typename State>
  void Fields(State& state) {
    state("origin", origin);
    state("scans", scans);
    state("fresh", fresh);
    state("look", next_check);
    state("nodes", nodes, [] { return Time(); });
    state("ranks", ranks, [] { return Time(); });
    state("removed_until", removed_until);
    state("starts_anew", starts_anew);
  }
};

}  // namespace stepscope
