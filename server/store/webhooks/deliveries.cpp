#include "server/store/webhooks/deliveries.h"

// The outbox: one row for each message to each webhook, claimed by whoever sends.

#include <algorithm>

#include "core/base/text.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kEnqueueTest[] = R"(
insert into deliveries (webhook_id, event, body, due_us, created_us)
select webhook_id, 'webhook.test', $2, (extract(epoch from clock_timestamp()) * 1000000)::bigint, $3
from webhooks
where webhook_id = $1
returning delivery_id)";
// A later message of a job waits until the earlier one was tried three times, and messages of a
// webhook wait while one of them is being sent, so that a slow target delays only itself. A message
// that was never tried and is not due waits until a finding has lasted, and holds up no other.
constexpr char kClaim[] = R"(
with clock as materialized (
    select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now_us
), claimed as materialized (
    select delivery_id
    from deliveries d, clock
    where state in ('ready', 'running') and due_us <= now_us
        and (state = 'ready' or lease_until_us < now_us)
        and not exists (
            select 1
            from deliveries earlier
            where earlier.job_id = d.job_id and d.job_id <> 0
                and earlier.webhook_id = d.webhook_id
                and earlier.delivery_id < d.delivery_id
                and earlier.state in ('ready', 'running')
                and jsonb_array_length(earlier.attempts) < 3
                and (earlier.due_us <= now_us or jsonb_array_length(earlier.attempts) > 0))
        and not exists (
            select 1
            from deliveries other
            where other.webhook_id = d.webhook_id and other.delivery_id <> d.delivery_id
                and other.state = 'running' and other.lease_until_us >= now_us)
    order by due_us, delivery_id
    limit $1
    for update of d skip locked
)
update deliveries d
set state = 'running', fence = fence + 1, lease_until_us = now_us + $2
from claimed c, clock
where d.delivery_id = c.delivery_id
returning d.delivery_id, webhook_id, job_id, sequence, created_us, due_us, fence, event, body, state,
    attempts, delivered_us, finding_of)";
constexpr char kFinish[] = R"(
with clock as materialized (
    select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now_us
)
update deliveries
set state = $3, attempts = attempts || jsonb_build_array($4::jsonb), due_us = now_us + $5,
    delivered_us = case when $3 = 'delivered' then now_us end
from clock
where delivery_id = $1 and fence = $2 and state = 'running')";
constexpr char kRetry[] = R"(
update deliveries
set state = 'ready', delivered_us = null,
    due_us = (extract(epoch from clock_timestamp()) * 1000000)::bigint
where delivery_id = $1 and state in ('delivered', 'dead'))";
constexpr char kFilter[] = R"(
from deliveries
where ($1::bigint is null or webhook_id = $1)
    and ($2 = '' or job_id = (select job_id from jobs where name = $2)))";
constexpr char kColumns[] =
    "delivery_id, webhook_id, job_id, sequence, created_us, due_us, fence, event, body, state, "
    "attempts, delivered_us, finding_of";

DeliveryRow ReadDelivery(const Rows& rows, std::size_t row) {
  DeliveryRow delivery;
  delivery.delivery_id = rows.Int(row, 0);
  delivery.webhook_id = rows.Int(row, 1);
  delivery.job_id = rows.Int(row, 2);
  delivery.sequence = rows.Int(row, 3);
  delivery.created_us = rows.Int(row, 4);
  delivery.due_us = rows.Int(row, 5);
  delivery.fence = rows.Int(row, 6);
  delivery.event = rows.Text(row, 7);
  delivery.body = rows.Text(row, 8);
  delivery.state = rows.Text(row, 9);
  delivery.attempts = ReadJson(rows, row, 10);
  delivery.delivered_us = rows.MaybeInt(row, 11);
  delivery.finding_of = rows.Text(row, 12);
  return delivery;
}

}  // namespace

Result<DeliveryRow> EnqueueTest(Connection& connection, std::int64_t webhook_id, const Json& body,
                                std::int64_t now_us) {
  const Result<Rows> made = connection.Query(kEnqueueTest, {webhook_id, Dump(body), now_us});
  if (!made) return made.error();
  if (made->empty()) return NotFound(Format("webhook {} not found", webhook_id));
  return LoadDelivery(connection, made->Int(0, 0));
}

Result<std::vector<DeliveryRow>> ClaimDeliveries(Connection& connection, int most, Duration lease) {
  const Result<Rows> rows = connection.Query(kClaim, {most, Micros(lease)});
  if (!rows) return rows.error();
  std::vector<DeliveryRow> deliveries;
  for (std::size_t i = 0; i < rows->size(); ++i) deliveries.push_back(ReadDelivery(*rows, i));
  std::ranges::sort(deliveries, {}, &DeliveryRow::delivery_id);
  return deliveries;
}

Status FinishDelivery(Connection& connection, const DeliveryOutcome& outcome) {
  const Result<Rows> finished =
      connection.Query(kFinish, {outcome.delivery_id, outcome.fence, outcome.state,
                                 Dump(outcome.attempt), Micros(outcome.again_in)});
  if (!finished) return finished.error();
  if (finished->affected() == 0) {
    return Conflict(Format("delivery {} is no longer ours", outcome.delivery_id));
  }
  return {};
}

// Newest first.
Result<DeliveryPage> ListDeliveries(Connection& connection, std::optional<std::int64_t> webhook_id,
                                    const std::string& job, const std::string& after, int limit) {
  std::vector<Parameter> parameters = {webhook_id, job};
  const Result<Rows> total =
      connection.Query(std::string("select count(*) ") + kFilter, parameters);
  if (!total) return total.error();
  std::int64_t below = INT64_MAX;
  if (!after.empty()) {
    const Result<Json> position = DecodeCursor(after, Json::array({0}));
    if (!position) return position.error();
    below = (*position)[0].get<std::int64_t>();
  }
  parameters.push_back(below);
  const Result<Rows> rows = connection.Query(
      Format("select {} {} and delivery_id < $3 order by delivery_id desc limit {}", kColumns,
             kFilter, limit + 1),
      parameters);
  if (!rows) return rows.error();
  DeliveryPage page;
  page.total = total->Int(0, 0);
  const std::size_t most = static_cast<std::size_t>(limit);
  for (std::size_t i = 0; i < std::min(rows->size(), most); ++i) {
    page.items.push_back(ReadDelivery(*rows, i));
  }
  if (rows->size() > most) page.next = EncodeCursor(Json::array({page.items.back().delivery_id}));
  return page;
}

Result<DeliveryRow> LoadDelivery(Connection& connection, std::int64_t delivery_id) {
  const Result<Rows> rows = connection.Query(
      Format("select {} from deliveries where delivery_id = $1", kColumns), {delivery_id});
  if (!rows) return rows.error();
  if (rows->empty()) return NotFound(Format("delivery {} not found", delivery_id));
  return ReadDelivery(*rows, 0);
}

Result<DeliveryRow> RetryDelivery(Connection& connection, std::int64_t delivery_id) {
  const Result<Rows> again = connection.Query(kRetry, {delivery_id});
  if (!again) return again.error();
  Result<DeliveryRow> delivery = LoadDelivery(connection, delivery_id);
  if (delivery && again->affected() == 0) {
    return Conflict(Format("delivery {} is {}", delivery_id, delivery->state));
  }
  return delivery;
}

}  // namespace stepscope
