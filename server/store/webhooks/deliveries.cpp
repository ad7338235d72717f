#include "server/store/webhooks/deliveries.h"

// The outbox: one row for each message to each webhook, claimed by whoever sends.

#include <algorithm>

#include "core/base/json_members.h"
#include "core/base/text.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

// "rule.cleared:IdleGPU" stands for the event of that rule alone; the last parameter is "" where
// the event is no rule's.
constexpr char kWanted[] = R"(
select 1
from webhooks
where enabled and (cardinality(events) = 0 or $1 = any(events)
    or ($2 <> '' and $1 || ':' || $2 = any(events)))
limit 1)";
constexpr char kNextSequence[] = R"(
update jobs
set deliveries = deliveries + 1
where job_id = $1
returning deliveries)";
constexpr char kEnqueue[] = R"(
insert into deliveries (webhook_id, job_id, event, sequence, body, due_us, created_us)
select webhook_id, $1, $2, $3, $4, (extract(epoch from clock_timestamp()) * 1000000)::bigint, $5
from webhooks
where enabled and (cardinality(events) = 0 or $2 = any(events)
    or ($6 <> '' and $2 || ':' || $6 = any(events)))
order by webhook_id)";
constexpr char kEnqueueTest[] = R"(
insert into deliveries (webhook_id, event, body, due_us, created_us)
select webhook_id, 'webhook.test', $2, (extract(epoch from clock_timestamp()) * 1000000)::bigint, $3
from webhooks
where webhook_id = $1
returning delivery_id)";
// A later message of a job waits until the earlier one was tried three times, and messages of a
// webhook wait while one of them is being sent, so that a slow target delays only itself.
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
                and jsonb_array_length(earlier.attempts) < 3)
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
    attempts, delivered_us)";
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
    "attempts, delivered_us";

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
  return delivery;
}

}  // namespace

Status EnqueueDeliveries(Connection& connection, std::int64_t job_id, const std::string& event,
                         const Json& body, std::int64_t now_us) {
  const std::string rule = TextOf(body.value("data", Json::object()), "rule");
  const Result<Rows> wanted = connection.Query(kWanted, {event, rule});
  if (!wanted) return wanted.error();
  if (wanted->empty()) return {};
  const Result<Rows> sequence = connection.Query(kNextSequence, {job_id});
  if (!sequence) return sequence.error();
  if (sequence->empty()) return NotFound(Format("job {} not found", job_id));
  Json numbered = body;
  numbered["sequence"] = sequence->Int(0, 0);
  return Done(connection.Query(kEnqueue,
                               {job_id, event, sequence->Int(0, 0), Dump(numbered), now_us, rule}));
}

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
