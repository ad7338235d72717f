#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "server/trace/trace_links.h"

namespace stepscope {

// The collectives of a rank one by one, so that ranks can be laid side by side.
struct CollectiveEvent {
  std::string name;  // "allreduce", "gloo:all_reduce"
  std::string group;
  std::int64_t occurrence = 0;            // among those of this name and group, from 0 in its step
  std::int64_t step = -1;                 // its number; -1: of none
  std::int64_t start_ns = 0, end_ns = 0;  // since the epoch, or on the trace's own clock
};
inline constexpr std::size_t kMostCollectiveEvents = 20'000;  // a trace keeps its first ones

// By their start. Collectives without a duration are left out.
std::vector<CollectiveEvent> MakeCollectiveEvents(const TraceLinks& links);
OrderedJson ToJson(const std::vector<CollectiveEvent>& events);
Result<std::vector<CollectiveEvent>> ReadCollectiveEvents(std::string_view text);

}  // namespace stepscope
