#include "server/store/jobs/job_events.h"

#include <algorithm>

#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kAdd[] = R"(
insert into events (job_id, at_us, kind, node, detail)
values ($1, $2, $3, $4, $5::jsonb || jsonb_build_object('count', $6::bigint)))";
constexpr char kCountEvents[] = R"(
select count(*)
from events
where job_id = $1)";
// An older service wrote one event for each frame, without a count.
constexpr char kListEvents[] = R"(
select event_id, at_us, kind, node, coalesce((detail ->> 'count')::bigint, 1), detail - 'count'
from events
where job_id = $1 and (at_us, event_id) < ($2, $3)
order by at_us desc, event_id desc
limit $4)";

}  // namespace

Status AddEvent(Connection& connection, std::int64_t job_id, const JobEvent& event) {
  return Done(connection.Query(
      kAdd, {job_id, event.at_us, event.kind, event.node, Dump(event.detail), event.count}));
}

// A cursor holds the time and the number of an event.
Result<EventPage> ListEvents(Connection& connection, std::int64_t job_id, const std::string& after,
                             int limit) {
  Json position = Json::array({INT64_MAX, INT64_MAX});
  if (!after.empty()) {
    Result<Json> given = DecodeCursor(after, Json::array({0, 0}));
    if (!given) return given.error();
    position = std::move(*given);
  }
  const Result<Rows> total = connection.QueryByKey(kCountEvents, {job_id});
  if (!total) return total.error();
  const Result<Rows> rows = connection.QueryByKey(
      kListEvents,
      {job_id, position[0].get<std::int64_t>(), position[1].get<std::int64_t>(), limit + 1});
  if (!rows) return rows.error();
  EventPage page;
  page.total = total->Int(0, 0);
  const std::size_t most = static_cast<std::size_t>(limit);
  for (std::size_t i = 0; i < std::min(rows->size(), most); ++i) {
    page.items.push_back({rows->Int(i, 1), rows->Text(i, 2), rows->Text(i, 3), rows->Int(i, 4),
                          ReadJson(*rows, i, 5)});
  }
  if (rows->size() > most) {
    page.next = EncodeCursor(Json::array({rows->Int(most - 1, 1), rows->Int(most - 1, 0)}));
  }
  return page;
}

}  // namespace stepscope
