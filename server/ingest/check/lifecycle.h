#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/json.h"

namespace stepscope {

enum class LifecycleEvent { kStarted, kRank, kRankEnded, kEnded, kAnswered };

// A report of an agent about the command and its processes.
struct Lifecycle {
  LifecycleEvent event = LifecycleEvent::kStarted;
  std::int64_t at_us = 0;
  // started
  std::string group;
  std::optional<std::int64_t> interval_ms;
  // started, rank: as they are stored
  Json facts;
  // rank, rank_ended
  int rank = -1;
  // ended: one of the two; none where the agent only saw the processes go
  std::optional<std::int64_t> exit_code, exit_signal;
  Json output;
  std::string reason;  // what the agent knows of why; ""
  // answered: a command
  std::int64_t interval_change =
      0;  // number of server/store/jobs/interval_requests.h; 0: another kind
  std::int64_t stop_request = 0;  // number of server/store/jobs/stop_requests.h
  std::int64_t window_id = 0;     // number of server/store/jobs/windows.h, with:
  std::int64_t spans = 0, dropped = 0;
  Json answer;  // {"command", "outcome", "reason"}
};

// A range of frame numbers that will never come.
struct LostRange {
  std::uint64_t last = 0;
  Json detail;  // reason, times, samples, for the event
};

// Checked: types, ranges, sizes. Invalid says which field is wrong.
Result<Lifecycle> ParseLifecycle(std::string_view payload);
Result<LostRange> ParseLostRange(std::string_view payload, std::uint64_t sequence);

// Whether a time lies in the years 2000 to 2099.
bool IsSaneTime(std::int64_t at_us);

}  // namespace stepscope
