#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/store/postgres/database.h"

namespace stepscope {

struct DeliveryRow {
  std::int64_t delivery_id = 0, webhook_id = 0, job_id = 0, sequence = 0, created_us = 0,
               due_us = 0, fence = 0;
  std::string event, body, state;
  Json attempts;
  std::optional<std::int64_t> delivered_us;
  std::string
      finding_of;  // the rule's configuration whose finding had to last; "" for other messages
};

Result<DeliveryRow> EnqueueTest(Connection&, std::int64_t webhook_id, const Json& body,
                                std::int64_t now_us);

Result<std::vector<DeliveryRow>> ClaimDeliveries(Connection&, int most, Duration lease);
struct DeliveryOutcome {
  std::int64_t delivery_id = 0, fence = 0;
  Json attempt;       // appended to attempts
  std::string state;  // delivered, ready (again) or dead
  Duration again_in{};
};
Status FinishDelivery(Connection&, const DeliveryOutcome&);

struct DeliveryPage {
  std::vector<DeliveryRow> items;
  std::string next;
  std::int64_t total = 0;
};
Result<DeliveryPage> ListDeliveries(Connection&, std::optional<std::int64_t> webhook_id,
                                    const std::string& job, const std::string& after, int limit);
Result<DeliveryRow> LoadDelivery(Connection&, std::int64_t delivery_id);

// Puts a message that was delivered or given up into the queue again. Conflict when it waits there
// already.
Result<DeliveryRow> RetryDelivery(Connection&, std::int64_t delivery_id);

}  // namespace stepscope
