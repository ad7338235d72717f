#include "server/store/webhooks/webhooks.h"

#include "core/base/text.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kInsert[] = R"(
insert into webhooks (url, events, secret_sealed, enabled, note, created_us, after_us)
values ($1, $2, $3, $4, $5, $6, $7)
returning webhook_id)";
constexpr char kList[] = R"(
select webhook_id, url, to_jsonb(events), secret_sealed, enabled, note, created_us, after_us
from webhooks
order by webhook_id
limit 1000)";
constexpr char kLoad[] = R"(
select webhook_id, url, to_jsonb(events), secret_sealed, enabled, note, created_us, after_us
from webhooks
where webhook_id = $1)";
constexpr char kLock[] = R"(
select webhook_id, url, to_jsonb(events), secret_sealed, enabled, note, created_us, after_us
from webhooks
where webhook_id = $1
for update)";
constexpr char kDelete[] = "delete from webhooks where webhook_id = $1";
// Messages that a deleted webhook did not get are not sent any more.
constexpr char kBury[] = R"(
update deliveries
set state = 'dead', fence = fence + 1
where webhook_id = $1 and state in ('ready', 'running'))";
constexpr char kDisable[] = R"(
update webhooks
set enabled = false, note = $2
where webhook_id = $1)";
constexpr char kChange[] = R"(
update webhooks
set events = $2, after_us = $3, enabled = $4, note = $5
where webhook_id = $1)";

WebhookRow ReadWebhook(const Rows& rows, std::size_t row) {
  WebhookRow webhook;
  webhook.webhook_id = rows.Int(row, 0);
  webhook.url = rows.Text(row, 1);
  webhook.events = ReadJson(rows, row, 2).get<std::vector<std::string>>();
  webhook.secret_sealed = rows.Bytes(row, 3);
  webhook.enabled = rows.Bool(row, 4);
  webhook.note = rows.Text(row, 5);
  webhook.created_us = rows.Int(row, 6);
  webhook.after_us = rows.Int(row, 7);
  return webhook;
}

Error NoWebhook(std::int64_t webhook_id) {
  return NotFound(Format("webhook {} not found", webhook_id));
}

Result<WebhookRow> ReadOne(const Result<Rows>& rows, std::int64_t webhook_id) {
  if (!rows) return rows.error();
  if (rows->empty()) return NoWebhook(webhook_id);
  return ReadWebhook(*rows, 0);
}

}  // namespace

Result<WebhookRow> CreateWebhook(Connection& connection, const WebhookRow& webhook) {
  const Result<Rows> made =
      connection.Query(kInsert, {webhook.url, Parameter::Array(webhook.events),
                                 Parameter::Bytes(webhook.secret_sealed), webhook.enabled,
                                 webhook.note, webhook.created_us, webhook.after_us});
  if (!made) return made.error();
  return LoadWebhook(connection, made->Int(0, 0));
}

Result<std::vector<WebhookRow>> ListWebhooks(Connection& connection) {
  const Result<Rows> rows = connection.Query(kList);
  if (!rows) return rows.error();
  std::vector<WebhookRow> webhooks;
  for (std::size_t i = 0; i < rows->size(); ++i) webhooks.push_back(ReadWebhook(*rows, i));
  return webhooks;
}

Result<WebhookRow> LoadWebhook(Connection& connection, std::int64_t webhook_id) {
  return ReadOne(connection.Query(kLoad, {webhook_id}), webhook_id);
}

Result<WebhookRow> LockWebhook(Connection& connection, std::int64_t webhook_id) {
  return ReadOne(connection.Query(kLock, {webhook_id}), webhook_id);
}

Status DeleteWebhook(Connection& connection, std::int64_t webhook_id) {
  const Result<Rows> deleted = connection.Query(kDelete, {webhook_id});
  if (!deleted) return deleted.error();
  if (deleted->affected() == 0) return NoWebhook(webhook_id);
  return Done(connection.Query(kBury, {webhook_id}));
}

Status DisableWebhook(Connection& connection, std::int64_t webhook_id, const std::string& note) {
  const Result<Rows> disabled = connection.Query(kDisable, {webhook_id, note});
  if (!disabled) return disabled.error();
  return disabled->affected() == 0 ? Status(NoWebhook(webhook_id)) : Status();
}

Status ChangeWebhook(Connection& connection, const WebhookRow& webhook) {
  const Result<Rows> changed =
      connection.Query(kChange, {webhook.webhook_id, Parameter::Array(webhook.events),
                                 webhook.after_us, webhook.enabled, webhook.note});
  if (!changed) return changed.error();
  return changed->affected() == 0 ? Status(NoWebhook(webhook.webhook_id)) : Status();
}

}  // namespace stepscope
