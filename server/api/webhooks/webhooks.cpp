// /webhooks: the receivers of messages.

#include "server/store/webhooks/webhooks.h"
#include "server/api/http/find_job.h"

#include <algorithm>
#include <optional>

#include "core/base/nearest.h"
#include "core/base/text.h"
#include "rules/catalog/catalog.h"
#include "server/alert/secrets.h"
#include "server/api/http/answer.h"
#include "server/api/http/body.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/api/webhooks/delivery_answer.h"
#include "server/store/webhooks/deliveries.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostUrl = 2048;
constexpr std::size_t kMostEvents = 128;     // each event of a rule once for each rule, and more
constexpr std::int64_t kMostAfter = 86'400;  // seconds
constexpr std::size_t kMostWebhooks = 100;   // each event is a message to each of them

OrderedJson ToJson(const WebhookRow& webhook, const std::string& secret = "") {
  OrderedJson json = {{"id", std::to_string(webhook.webhook_id)},
                      {"url", webhook.url},
                      {"events", webhook.events},
                      {"after_seconds", webhook.after_us / 1'000'000}};
  if (!secret.empty()) json["secret"] = secret;
  json["enabled"] = webhook.enabled;
  json["note"] = webhook.note;
  PutTime(json, "created", webhook.created_us);
  return json;
}

// Why the name of an event is none, or "". An event of a rule may name the rule: "rule.error:Name".
std::string FaultOf(std::string_view event) {
  const std::size_t colon = event.find(':');
  const std::string_view name = event.substr(0, colon);
  if (std::ranges::count(kWebhookEvents, name) == 0) {
    return Format("there is no event '{}'", Printable(std::string(name), 64));
  }
  if (colon == std::string_view::npos) return "";
  const std::string_view rule = event.substr(colon + 1);
  if (!name.starts_with("rule.")) return Format("{} is of no rule", name);
  if (FindRule(rule) != nullptr) return "";
  std::vector<std::string_view> known;
  for (const RuleType& each : Catalog()) known.push_back(each.name);
  return Format("there is no rule '{}'{}", Printable(std::string(rule), 64),
                DidYouMean(NearestWords(known, rule)));
}

std::vector<std::string> ReadEvents(Body& body) {
  std::vector<std::string> read;
  const Json events = body.Array(body.root(), "", "events", kMostEvents);
  for (std::size_t at = 0; at < events.size(); ++at) {
    const std::string pointer = Format("/events/{}", at);
    const std::string event = events[at].is_string() ? events[at].get<std::string>() : "";
    if (const std::string fault = FaultOf(event); !fault.empty()) {
      body.Note(pointer, fault);
    } else if (std::ranges::count(read, event) > 0) {
      body.Note(pointer, Format("{} stands twice", event));
    } else {
      read.push_back(event);
    }
  }
  return read;
}

std::int64_t ReadAfter(Body& body) {
  return body.Integer(body.root(), "", "after_seconds", 0, kMostAfter, 0) * 1'000'000;
}

// Only an event about findings can wait for them to last.
void CheckAfter(const WebhookRow& webhook, Body& body) {
  const bool told = std::ranges::any_of(webhook.events, [](const std::string& event) {
    return event.starts_with("rule.issues_found");
  });
  if (webhook.after_us > 0 && !webhook.events.empty() && !told) {
    body.Note("/after_seconds", "is for rule.issues_found, which is not among the events");
  }
}

WebhookRow ReadNewWebhook(const Api& api, Body& body) {
  WebhookRow webhook;
  body.AllowOnly(body.root(), "", {"url", "events", "after_seconds"});
  webhook.url = body.Text(body.root(), "", "url", kMostUrl);
  webhook.events = ReadEvents(body);
  webhook.after_us = ReadAfter(body);
  CheckAfter(webhook, body);
  webhook.created_us = ToMicros(api.clock.Now());
  if (!body.faults().empty()) return webhook;
  if (webhook.url.empty()) body.Note("/url", "is missing");
  if (webhook.url.empty()) return webhook;
  if (const Status good = api.check_target(webhook.url); !good) {
    body.Note("/url", good.error().message);
  }
  return webhook;
}

Result<Reply> CreateOneWebhook(const Api& api, Connection& connection, const Request& request,
                               const PathParameters&) {
  const Query query(request, {});
  Body body(request);
  WebhookRow asked = ReadNewWebhook(api, body);

  if (!query.faults().empty()) return query.Refusal(request);
  if (!body.faults().empty()) return body.Refusal(request);

  const Result<std::vector<WebhookRow>> standing = ListWebhooks(connection);
  if (!standing) return standing.error();
  const auto same = std::ranges::find(*standing, asked.url, &WebhookRow::url);
  if (same != standing->end()) {
    const std::string detail =
        Format("webhook {} has this URL; delete it first to get a new secret", same->webhook_id);
    return ToReply(Problem{"webhook-exists", detail, {}, {}}, request);
  }
  if (standing->size() >= kMostWebhooks) {
    const std::string detail =
        Format("there are {}, the most that one service has; delete one first", kMostWebhooks);
    return ToReply(Problem{"limit-webhooks", detail, {}, {}}, request);
  }
  const std::string secret = NewWebhookSecret();
  Result<std::string> sealed = api.seal(secret);
  if (!sealed) return sealed.error();
  asked.secret_sealed = std::move(*sealed);
  const Result<WebhookRow> webhook = CreateWebhook(connection, asked);
  if (!webhook) return webhook.error();

  Reply reply = JsonReply(ToJson(*webhook, secret), 201);
  reply.headers.emplace_back("Location", Format("/api/v1/webhooks/{}", webhook->webhook_id));
  return reply;
}

Result<Reply> ListAllWebhooks(const Api&, Connection& connection, const Request& request,
                              const PathParameters&) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<std::vector<WebhookRow>> webhooks = ListWebhooks(connection);
  if (!webhooks) return webhooks.error();

  OrderedJson items = OrderedJson::array();
  for (const WebhookRow& webhook : *webhooks) items.push_back(ToJson(webhook));
  return JsonReply({{"items", items}});
}

Result<Reply> GetOneWebhook(const Api&, Connection& connection, const Request& request,
                            const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);
  const Result<std::int64_t> id = ReadId(path, "webhook");
  if (!id) return id.error();

  const Result<WebhookRow> webhook = LoadWebhook(connection, *id);
  if (!webhook) return webhook.error();
  return JsonReply(ToJson(*webhook));
}

// What is left out of a change stays as it was.
struct WebhookChange {
  std::optional<std::vector<std::string>> events;
  std::optional<std::int64_t> after_us;
  std::optional<bool> enabled;
};

WebhookChange ReadChange(Body& body) {
  WebhookChange change;
  const Json& root = body.root();
  body.AllowOnly(root, "", {"events", "after_seconds", "enabled"});
  if (root.empty()) body.Note("", "changes nothing: give events, after_seconds or enabled");
  if (root.contains("events")) change.events = ReadEvents(body);
  if (root.contains("after_seconds")) change.after_us = ReadAfter(body);
  if (root.contains("enabled")) change.enabled = body.Bool(root, "", "enabled", true);
  return change;
}

WebhookRow Changed(const WebhookRow& before, const WebhookChange& change) {
  WebhookRow webhook = before;
  webhook.events = change.events.value_or(before.events);
  webhook.after_us = change.after_us.value_or(before.after_us);
  webhook.enabled = change.enabled.value_or(before.enabled);
  if (webhook.enabled != before.enabled) webhook.note.clear();  // it told why the service did that
  return webhook;
}

Result<Reply> ChangeOneWebhook(const Api&, Connection& connection, const Request& request,
                               const PathParameters& path) {
  const Query query(request, {});
  Body body(request);
  const WebhookChange change = ReadChange(body);
  const Result<std::int64_t> id = ReadId(path, "webhook");

  if (!query.faults().empty()) return query.Refusal(request);
  if (!body.faults().empty()) return body.Refusal(request);
  if (!id) return id.error();

  const Result<WebhookRow> before = LockWebhook(connection, *id);
  if (!before) return before.error();
  const WebhookRow webhook = Changed(*before, change);
  CheckAfter(webhook, body);
  if (!body.faults().empty()) return body.Refusal(request);
  if (const Status stored = ChangeWebhook(connection, webhook); !stored) return stored.error();
  return JsonReply(ToJson(webhook));
}

Result<Reply> DeleteOneWebhook(const Api&, Connection& connection, const Request& request,
                               const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);
  const Result<std::int64_t> id = ReadId(path, "webhook");
  if (!id) return id.error();

  if (const Status deleted = DeleteWebhook(connection, *id); !deleted) return deleted.error();
  return Reply{.status = 204, .content_type = "", .body = "", .headers = {}};
}

Result<Reply> TestOneWebhook(const Api& api, Connection& connection, const Request& request,
                             const PathParameters& path) {
  const Query query(request, {});
  Body body(request);
  body.AllowOnly(body.root(), "", {});
  const Result<std::int64_t> id = ReadId(path, "webhook");

  if (!query.faults().empty()) return query.Refusal(request);
  if (!body.faults().empty()) return body.Refusal(request);
  if (!id) return id.error();

  const Time now = api.clock.Now();
  const Json message = {{"type", "webhook.test"},
                        {"timestamp", ToRfc3339(now)},
                        {"data", {{"url", api.public_url + "/"}}}};
  const Result<DeliveryRow> delivery = EnqueueTest(connection, *id, message, ToMicros(now));
  if (!delivery) return delivery.error();

  return JsonReply(ToJson(*delivery), 202);
}

}  // namespace

std::vector<Route> WebhookRoutes(const Api& api) {
  return {
      ForDatabase(api, Right::kAlert, "GET", "/api/v1/webhooks", ListAllWebhooks),
      ForChange(api, Right::kAlert, "POST", "/api/v1/webhooks", "webhook.create", CreateOneWebhook),
      ForDatabase(api, Right::kAlert, "GET", "/api/v1/webhooks/{id}", GetOneWebhook),
      ForChange(api, Right::kAlert, "PATCH", "/api/v1/webhooks/{id}", "webhook.change",
                ChangeOneWebhook),
      ForChange(api, Right::kAlert, "DELETE", "/api/v1/webhooks/{id}", "webhook.delete",
                DeleteOneWebhook),
      ForChange(api, Right::kAlert, "POST", "/api/v1/webhooks/{id}/test", "webhook.test",
                TestOneWebhook)};
}

}  // namespace stepscope
