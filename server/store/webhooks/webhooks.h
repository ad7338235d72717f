#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/store/postgres/database.h"

namespace stepscope {

inline constexpr std::string_view kWebhookEvents[] = {
    "rule.issues_found", "rule.cleared", "rule.error",   "job.completed", "job.failed",
    "job.stopped",       "job.stalled",  "agent.silent", "fleet.weekly",  "webhook.test"};

struct WebhookRow {
  std::int64_t webhook_id = 0, created_us = 0;
  std::string url, note;
  // Empty = all. An event of a rule may name the one rule that it is wanted of:
  // "rule.error:IdleGPU".
  std::vector<std::string> events;
  std::string secret_sealed;
  bool enabled = true;
  std::int64_t after_us = 0;  // how long a finding must last before rule.issues_found is sent
};
Result<WebhookRow> CreateWebhook(Connection&, const WebhookRow&);
Result<std::vector<WebhookRow>> ListWebhooks(Connection&);
Result<WebhookRow> LoadWebhook(Connection&, std::int64_t webhook_id);
// Nobody else changes it before the end of the caller's transaction.
Result<WebhookRow> LockWebhook(Connection&, std::int64_t webhook_id);
// In the caller's transaction.
Status DeleteWebhook(Connection&, std::int64_t webhook_id);
Status DisableWebhook(Connection&, std::int64_t webhook_id, const std::string& note);
// Stores its events, `after_us`, `enabled` and `note`; its address and its secret stay. In the
// caller's transaction.
Status ChangeWebhook(Connection&, const WebhookRow&);

}  // namespace stepscope
