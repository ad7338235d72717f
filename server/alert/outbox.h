#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "core/base/worker.h"
#include "core/http/client.h"
#include "core/http/lookup.h"
#include "server/alert/address_policy.h"
#include "server/alert/retry.h"
#include "server/alert/secrets.h"
#include "server/store/postgres/database.h"
#include "server/store/webhooks/deliveries.h"
#include "server/store/webhooks/webhooks.h"

namespace stepscope {

struct OutboxOptions {
  AddressPolicy policy;
  Resolver resolve = ResolveHost;
  std::string ca_file;      // authorities to trust; empty: those of the system
  int threads = 2;          // one slow target has one of them at most
  Duration idle = 500ms;    // between two queries of a thread for work, +- 20 %
  Duration deadline = 10s;  // of one attempt, the lookup of the name included
  Duration lease = 30s;     // after it, the message of a dead outbox is sent again
};

struct OutboxFigures {
  std::uint64_t attempts = 0, delivered = 0, again = 0, dead = 0;
};

// Sends the messages that status changes left in the database, signed (Standard Webhooks), each at
// least once and with the same webhook-id at every attempt. Connects only to addresses that the
// policy allows and that were checked; redirects are answers like others. Several outboxes may
// share a database. Destroying it ends a request in flight; that message is sent again later.
class Outbox {
 public:
  // `database` has room for `threads` connections; the references outlive this.
  Outbox(Database& database, const Clock& clock, const SecretBox& secrets, OutboxOptions options);

  OutboxFigures figures() const;

 private:
  void Work(const std::stop_token& stop);
  bool WorkOnce(const std::stop_token& stop);
  void Deliver(const std::stop_token& stop, const DeliveryRow& delivery);
  Result<WebhookRow> Load(std::int64_t webhook_id);
  Attempt Send(const std::stop_token& stop, const WebhookRow& webhook, const DeliveryRow& delivery);
  Result<HttpAnswer> Post(const std::stop_token& stop, const WebhookRow& webhook,
                          const DeliveryRow& delivery);
  void Finish(const DeliveryRow& delivery, const Attempt& attempt, const Decision& decision);

  Database& database_;
  const Clock& clock_;
  const SecretBox& secrets_;
  const OutboxOptions options_;
  NameLookup lookup_;
  Guarded<OutboxFigures> figures_;
  std::vector<Worker> threads_;
};

}  // namespace stepscope
