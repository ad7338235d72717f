#include "server/alert/outbox.h"

#include <chrono>
#include <utility>

#include "core/base/log.h"
#include "core/base/random.h"
#include "server/alert/post.h"
#include "server/alert/sign.h"

namespace stepscope {
namespace {

constexpr Duration kLongestRetryAfter = 1h;

std::int64_t SecondsOf(Time time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

}  // namespace

Outbox::Outbox(Database& database, const Clock& clock, const SecretBox& secrets,
               OutboxOptions options)
    : database_(database),
      clock_(clock),
      secrets_(secrets),
      options_(std::move(options)),
      lookup_(options_.resolve) {
  for (int i = 0; i < options_.threads; ++i) {
    threads_.emplace_back(Format("outbox-{}", i),
                          [this](const std::stop_token& stop) { Work(stop); });
  }
}

OutboxFigures Outbox::figures() const {
  return figures_.Read([](const OutboxFigures& figures) { return figures; });
}

void Outbox::Work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (WorkOnce(stop)) continue;
    SleepFor(stop, Around(options_.idle));
  }
}

// Sends one message; says whether there was any. No connection is held while it is sent.
bool Outbox::WorkOnce(const std::stop_token& stop) {
  std::vector<DeliveryRow> deliveries;
  {
    auto connection = database_.Acquire();
    if (!connection.ok()) return false;
    auto claimed = ClaimDeliveries(**connection, 1, options_.lease);
    if (!claimed.ok()) return false;
    deliveries = std::move(*claimed);
  }
  for (const DeliveryRow& delivery : deliveries) Deliver(stop, delivery);
  return !deliveries.empty();
}

void Outbox::Deliver(const std::stop_token& stop, const DeliveryRow& delivery) {
  const auto webhook = Load(delivery.webhook_id);
  Attempt attempt;
  attempt.at = clock_.Now();
  if (!webhook.ok() || !webhook->enabled) {
    const bool away = !webhook.ok() && webhook.error().code != Code::kNotFound;
    if (away) return;  // the message is sent again when the lease ends
    attempt.error = webhook.ok() ? "the webhook is disabled" : "the webhook was deleted";
    Finish(delivery, attempt, {"dead"});
    return;
  }
  attempt = Send(stop, *webhook, delivery);
  if (attempt.status == 0 && stop.stop_requested()) return;  // we cut it short
  Finish(delivery, attempt, Decide(attempt, delivery.attempts, Stretch()));
}

Result<WebhookRow> Outbox::Load(std::int64_t webhook_id) {
  auto connection = database_.Acquire();
  if (!connection.ok()) return connection.error();
  return LoadWebhook(**connection, webhook_id);
}

Attempt Outbox::Send(const std::stop_token& stop, const WebhookRow& webhook,
                     const DeliveryRow& delivery) {
  Attempt attempt;
  attempt.at = clock_.Now();
  const SteadyTime start = clock_.Steady();
  auto answer = Post(stop, webhook, delivery);
  attempt.took = clock_.Steady() - start;
  if (answer.ok()) {
    attempt.status = answer->status;
    attempt.retry_after = answer->RetryAfter(kLongestRetryAfter);
    attempt.answer = std::move(answer->body);
  } else {
    attempt.error = answer.error().message;
  }
  return attempt;
}

Result<HttpAnswer> Outbox::Post(const std::stop_token& stop, const WebhookRow& webhook,
                                const DeliveryRow& delivery) {
  const auto secret = secrets_.Unseal(webhook.secret_sealed);
  if (!secret.ok()) return secret.error();
  const std::string id = std::to_string(delivery.delivery_id);
  const std::int64_t timestamp = SecondsOf(clock_.Now());
  const auto signature = SignWebhook(*secret, id, timestamp, delivery.body);
  if (!signature.ok()) return signature.error();

  HttpRequest request;
  request.body = delivery.body;
  request.headers = {{"Content-Type", "application/json"},
                     {"User-Agent", "stepscope"},
                     {"webhook-id", id},
                     {"webhook-timestamp", std::to_string(timestamp)},
                     {"webhook-signature", *signature}};
  const PostOptions options{options_.policy, options_.ca_file, options_.deadline};
  return PostToTarget(webhook.url, request, options, lookup_, stop);
}

void Outbox::Finish(const DeliveryRow& delivery, const Attempt& attempt, const Decision& decision) {
  figures_.Change([&](OutboxFigures& figures) {
    ++figures.attempts;
    figures.delivered += decision.state == "delivered" ? 1 : 0;
    figures.again += decision.state == "ready" ? 1 : 0;
    figures.dead += decision.state == "dead" ? 1 : 0;
  });
  auto connection = database_.Acquire();
  if (!connection.ok()) return;
  DeliveryOutcome outcome;
  outcome.delivery_id = delivery.delivery_id;
  outcome.fence = delivery.fence;
  outcome.attempt = ToJson(attempt);
  outcome.state = decision.state;
  outcome.again_in = decision.again_in;
  const Status finished = FinishDelivery(**connection, outcome);
  if (!finished.ok()) {
    LogWarning("message {}: its outcome is not stored and it may be sent again: {}",
               delivery.delivery_id, finished.error().message);
  }
  if (decision.state == "dead") {
    LogWarning("message {} to webhook {} is given up: {}", delivery.delivery_id,
               delivery.webhook_id, Dump(outcome.attempt));
  }
  if (!decision.disable) return;
  const Status disabled =
      DisableWebhook(**connection, delivery.webhook_id, "the target answered 410 Gone");
  if (!disabled.ok()) LogWarning("webhook {}: {}", delivery.webhook_id, disabled.error().message);
}

}  // namespace stepscope
