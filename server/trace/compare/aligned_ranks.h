#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "server/trace/collective_events.h"

namespace stepscope {

// The ranks of a window on one clock, and who came last to each collective.
//
// A collective ends on all of its ranks within microseconds, so the median difference between the
// ends of two ranks is the offset between their clocks. Who comes last has the shortest collective:
// the others wait in theirs.

struct RankEvents {
  int rank = 0;
  std::vector<CollectiveEvent> events;
};

struct AlignedRank {
  int rank = 0;
  std::int64_t offset_ns = 0;    // its clock minus that of the first rank
  std::int64_t residual_ns = 0;  // how far ends still differ then, median
  std::size_t shared = 0;        // collectives that it has in common with the first rank
  std::size_t last = 0;          // collectives to which it came last
  std::int64_t late_ns = 0;      // by how much it was later than the second last, in all of these
  std::int64_t waited_ns = 0;    // how long it waited in collectives for the last to come, in all
};

struct AlignedCollective {
  std::string_view name, group;  // as in the events that it was made of
  std::int64_t step = -1, occurrence = 0;
  std::int64_t start_ns = 0;  // the first arrival, on the first rank's clock
  std::int64_t wire_ns = 0;   // the shortest duration of all: what is left is waiting
  int last_rank = -1;         // -1: ranks came closer together than their clocks are known
  std::int64_t late_ns = 0;   // by how much it came later than the second last
  // By the order of the ranks, after the first to come; -1: has none.
  std::vector<std::int64_t> arrivals_ns{};
};

struct AlignedRanks {
  std::vector<AlignedRank> ranks;
  std::vector<AlignedCollective> collectives;  // by start; those that two ranks or more have
};

// Ranks that share fewer than 3 collectives with the first are left out.
AlignedRanks AlignRanks(const std::vector<RankEvents>& ranks);
// `most` collectives, those with the latest last rank first.
OrderedJson ToJson(const AlignedRanks& aligned, std::size_t most);

}  // namespace stepscope
