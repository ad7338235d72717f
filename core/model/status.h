#pragma once

#include <optional>
#include <string_view>

namespace stepscope {

// The statuses that describe-job shows; PostgreSQL and JSON have the same words.
enum class JobStatus { kInProgress, kCompleted, kFailed, kStopping, kStopped };
enum class RuleStatus { kInProgress, kNoIssuesFound, kIssuesFound, kError, kStopping, kStopped };

std::string_view ToText(JobStatus status);
std::string_view ToText(RuleStatus status);
std::optional<JobStatus> ParseJobStatus(std::string_view text);
std::optional<RuleStatus> ParseRuleStatus(std::string_view text);

// Whether a job in this status is over: nothing more is expected of it.
inline bool HasEnded(JobStatus status) {
  return status != JobStatus::kInProgress && status != JobStatus::kStopping;
}

}  // namespace stepscope
