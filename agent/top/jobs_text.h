#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/marks/live_ranks.h"
#include "core/base/result.h"

namespace stepscope {

// A job as the agent that serves it tells it.
struct TopJob {
  std::string job;
  std::vector<LiveRank> ranks;
  std::int64_t more_ranks = 0;  // that are left out
};

// What an agent says to `top`: JSON in one line, at most kMostTopRanks ranks in all.
inline constexpr std::size_t kMostTopRanks = 256;
std::string JobsText(std::vector<TopJob> jobs);

// Invalid for what is not that; whoever said it.
Result<std::vector<TopJob>> ParseJobs(std::string_view text);

}  // namespace stepscope
