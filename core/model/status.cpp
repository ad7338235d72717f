#include "core/model/status.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace stepscope {
namespace {

constexpr std::array<std::string_view, 5> kJob = {"InProgress", "Completed", "Failed", "Stopping",
                                                  "Stopped"};
constexpr std::array<std::string_view, 6> kRule = {"InProgress", "NoIssuesFound", "IssuesFound",
                                                   "Error",      "Stopping",      "Stopped"};

template <typename Word, std::size_t kCount>
std::optional<Word> Parse(const std::array<std::string_view, kCount>& words,
                          std::string_view text) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (words[i] == text) return static_cast<Word>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view ToText(JobStatus status) {
  return kJob[static_cast<std::size_t>(status)];
}
std::string_view ToText(RuleStatus status) {
  return kRule[static_cast<std::size_t>(status)];
}
std::optional<JobStatus> ParseJobStatus(std::string_view text) {
  return Parse<JobStatus>(kJob, text);
}
std::optional<RuleStatus> ParseRuleStatus(std::string_view text) {
  return Parse<RuleStatus>(kRule, text);
}

}  // namespace stepscope
