#include "server/store/webhooks/weekly.h"

#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kWants[] = R"(
select 1
from webhooks
where enabled and 'fleet.weekly' = any(events) and weekly_until_us < $1 and created_us < $1
limit 1)";
// Two services that claim at once wait for each other, and the second finds nothing.
constexpr char kClaimWeek[] = R"(
with claimed as (
    update webhooks
    set weekly_until_us = $1
    where enabled and 'fleet.weekly' = any(events) and weekly_until_us < $1 and created_us < $1
    returning webhook_id
)
insert into deliveries (webhook_id, event, body, due_us, created_us)
select webhook_id, 'fleet.weekly', $2, (extract(epoch from clock_timestamp()) * 1000000)::bigint, $3
from claimed
order by webhook_id)";

}  // namespace

Result<bool> WantsWeek(Connection& connection, std::int64_t week_end_us) {
  const Result<Rows> rows = connection.Query(kWants, {week_end_us});
  if (!rows) return rows.error();
  return !rows->empty();
}

Result<int> EnqueueWeek(Connection& connection, std::int64_t week_end_us, const Json& body,
                        std::int64_t now_us) {
  const Result<Rows> rows = connection.Query(kClaimWeek, {week_end_us, Dump(body), now_us});
  if (!rows) return rows.error();
  return static_cast<int>(rows->affected());
}

}  // namespace stepscope
