#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/marks/live_ranks.h"
#include "core/base/result.h"

namespace stepscope {

// A job, as reported by the agent that serves it.
struct TopJob {
  std::string job;
  std::vector<LiveRank> ranks;
  std::int64_t more_ranks = 0;  // ranks that are left out
};

// The agent's answer to `top`: JSON on one line, at most kMostTopRanks ranks in all.
inline constexpr std::size_t kMostTopRanks = 256;
std::string JobsText(std::vector<TopJob> jobs);

// Parses such an answer, which any process may have sent; Invalid for any other text.
Result<std::vector<TopJob>> ParseJobs(std::string_view text);

}  // namespace stepscope
