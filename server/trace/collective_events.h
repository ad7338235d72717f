#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "server/trace/trace_links.h"

namespace stepscope {

// The collectives of a rank one by one, so that ranks can be laid side by side. Names belong to the
// trace, or to the CollectiveNames, that they were made of.
struct CollectiveEvent {
  std::string_view name;  // "allreduce", "gloo:all_reduce"
  std::string_view group;
  std::int64_t occurrence = 0;            // among those of this name and group, from 0 in its step
  std::int64_t step = -1;                 // its number; -1: of none
  std::int64_t start_ns = 0, end_ns = 0;  // since the epoch, or on the trace's own clock
};
inline constexpr std::size_t kMostCollectiveEvents = 20'000;  // a trace keeps its first ones
// Whoever writes a trace chooses its names: each is cut, and those beyond the sum are all the same.
inline constexpr std::size_t kLongestCollective = 200;
inline constexpr std::size_t kMostCollectiveNames = 1024 * 1024;      // bytes of different ones
inline constexpr std::size_t kMostCollectiveText = 16 * 1024 * 1024;  // of one trace, as text

// The names of the events of several ranks, each once. Names stay where they are.
using CollectiveNames = std::set<std::string, std::less<>>;

// By their start. Collectives without a duration are left out.
std::vector<CollectiveEvent> MakeCollectiveEvents(const TraceLinks& links);
OrderedJson ToJson(const std::vector<CollectiveEvent>& events);
// The first `most` events of a text that ToJson made; an older version wrote names in each row.
Result<std::vector<CollectiveEvent>> ReadCollectiveEvents(std::string_view text, std::size_t most,
                                                          CollectiveNames& names);

}  // namespace stepscope
