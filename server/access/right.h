#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace stepscope {

enum class Role { kNone, kAgent, kReader, kOperator, kAdmin };

inline constexpr std::array<std::string_view, 5> kRoleWords = {"none", "agent", "reader",
                                                               "operator", "admin"};

constexpr std::string_view ToText(Role role) {
  return kRoleWords[static_cast<std::size_t>(role)];
}

// Whether a token can have this role.
constexpr std::optional<Role> ParseRole(std::string_view word) {
  for (std::size_t at = 1; at < kRoleWords.size(); ++at) {
    if (kRoleWords[at] == word) return static_cast<Role>(at);
  }
  return std::nullopt;
}

// The right that a call needs. openapi.yaml has the words as x-stepscope-right.
enum class Right {
  kOpen,        // static files, /healthz, signing in and out
  kProbe,       // /readyz; its details need kObserve
  kObserve,     // /metrics
  kSignedIn,    // who am I
  kSend,        // frames of a job, and creating it
  kStatus,      // whether a job runs or has ended
  kRead,        // jobs, series, findings, reports
  kChange,      // a job's rules and windows; stop and delete
  kAlert,       // webhooks and their log: they see every job
  kAdminister,  // tokens, the record of changes, node bindings
};

enum class Grant {
  kNo,
  kLocal,    // from this machine
  kInScope,  // the jobs of the token's scopes
  kAllJobs,  // with a token whose scopes are all jobs
  kYes,
};

struct RightRow {
  Right right;
  std::string_view word;
  std::array<Grant, 5> grants;  // by role, in the order of Role
};

// Who may do what. No other place says it: a test compares routes and openapi.yaml with it.
inline constexpr auto kRights = [] {
  using enum Grant;
  return std::to_array<RightRow>({
      //                                 none    agent     reader    operator  admin
      {Right::kOpen, "open", {{kYes, kYes, kYes, kYes, kYes}}},
      {Right::kProbe, "probe", {{kYes, kYes, kYes, kYes, kYes}}},
      {Right::kObserve, "observe", {{kLocal, kNo, kYes, kYes, kYes}}},
      {Right::kSignedIn, "signed-in", {{kNo, kYes, kYes, kYes, kYes}}},
      {Right::kSend, "send", {{kNo, kInScope, kNo, kInScope, kYes}}},
      {Right::kStatus, "status", {{kNo, kInScope, kInScope, kInScope, kYes}}},
      {Right::kRead, "read", {{kNo, kNo, kInScope, kInScope, kYes}}},
      {Right::kChange, "change", {{kNo, kNo, kNo, kInScope, kYes}}},
      {Right::kAlert, "alert", {{kNo, kNo, kNo, kAllJobs, kYes}}},
      {Right::kAdminister, "administer", {{kNo, kNo, kNo, kNo, kYes}}},
  });
}();

constexpr const RightRow& RowOf(Right right) {
  return kRights[static_cast<std::size_t>(right)];
}

constexpr Grant GrantOf(Right right, Role role) {
  return RowOf(right).grants[static_cast<std::size_t>(role)];
}

}  // namespace stepscope
