#pragma once

#include <optional>
#include <string_view>

namespace stepscope {

// The words of describe-job; also how they stand in PostgreSQL and JSON.
enum class JobStatus { kInProgress, kCompleted, kFailed, kStopping, kStopped };
enum class RuleStatus { kInProgress, kNoIssuesFound, kIssuesFound, kError, kStopping, kStopped };

std::string_view ToText(JobStatus status);
std::string_view ToText(RuleStatus status);
std::optional<JobStatus> ParseJobStatus(std::string_view text);
std::optional<RuleStatus> ParseRuleStatus(std::string_view text);

// Nothing more is expected of a job in this status.
inline bool HasEnded(JobStatus status) {
  return status != JobStatus::kInProgress && status != JobStatus::kStopping;
}

}  // namespace stepscope
