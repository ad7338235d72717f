#include "server/store/jobs/window_answers.h"

#include <map>

#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kSumAnswers[] = R"(
select window_id, count(*), count(*) filter (where recorded),
    least(sum(spans), 9223372036854775807)::bigint, least(sum(dropped), 9223372036854775807)::bigint
from window_answers
where job_id = $1 and window_id between $2 and $3
group by window_id
order by window_id
limit 1000)";
constexpr char kFirstAnswers[] = R"(
select windows.window_id, name, at_us, recorded, reason, first.spans, first.dropped
from windows
cross join lateral (
    select node_id, session, at_us, recorded, reason, spans, dropped
    from window_answers
    where window_answers.job_id = $1 and window_answers.window_id = windows.window_id
    order by at_us, session
    limit $4) as first
join nodes on nodes.job_id = $1 and nodes.node_id = first.node_id
where windows.job_id = $1 and windows.window_id between $2 and $3
order by windows.window_id, at_us, session
limit 10000)";
constexpr char kAnsweredNodes[] = R"(
select distinct window_id, node_id
from window_answers
join jobs using (job_id)
where job_id = $1 and window_id = window_requests and window_id between $2 and $3
order by node_id
limit 10000)";
constexpr char kAnsweredWindow[] = R"(
update streams
set window_answered = greatest(window_answered, $3)
where job_id = $1 and session = $2)";
constexpr char kInsertAnswer[] = R"(
insert into window_answers (job_id, window_id, session, node_id, at_us, recorded, reason, spans,
    dropped)
select job_id, window_id, $3, $4, $5, $6, $7, $8, $9
from windows
where job_id = $1 and window_id = $2
on conflict do nothing)";

}  // namespace

Status AddAnswers(Connection& connection, std::int64_t job_id, std::vector<WindowRow>& windows,
                  std::int64_t most) {
  if (windows.empty()) return {};
  std::map<std::int64_t, WindowRow*> by_id;
  for (WindowRow& window : windows) by_id[window.window_id] = &window;
  const auto each = [&](const char* sql, std::vector<Parameter> parameters,
                        const auto& add) -> Status {
    const Result<Rows> rows = connection.Query(sql, parameters);
    if (!rows) return rows.error();
    for (std::size_t i = 0; i < rows->size(); ++i) {
      const auto window = by_id.find(rows->Int(i, 0));
      if (window != by_id.end()) add(*rows, i, *window->second);
    }
    return {};
  };
  const std::int64_t first = windows.back().window_id, last = windows.front().window_id;
  Status read = each(kSumAnswers, {job_id, first, last},
                     [](const Rows& rows, std::size_t i, WindowRow& window) {
                       window.answer_count = rows.Int(i, 1);
                       window.recorded_count = rows.Int(i, 2);
                       window.sent = rows.Int(i, 3);
                       window.dropped = rows.Int(i, 4);
                     });
  if (!read) return read;
  read = each(kFirstAnswers, {job_id, first, last, most},
              [](const Rows& rows, std::size_t i, WindowRow& window) {
                window.answers.push_back({window.window_id, rows.Text(i, 1), rows.Int(i, 2),
                                          rows.Bool(i, 3), rows.Text(i, 4), rows.Int(i, 5),
                                          rows.Int(i, 6)});
              });
  if (!read) return read;
  return each(kAnsweredNodes, {job_id, first, last},
              [](const Rows& rows, std::size_t i, WindowRow& window) {
                window.answered_nodes.push_back(rows.Int(i, 1));
              });
}

Status WindowAnswered(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                      std::string_view session, const WindowAnswer& answer) {
  const Status noted = Done(connection.QueryByKey(
      kAnsweredWindow, {job_id, Parameter::Bytes(session), answer.window_id}));
  if (!noted) return noted;
  return Done(connection.Query(
      kInsertAnswer, {job_id, answer.window_id, Parameter::Bytes(session), node_id, answer.at_us,
                      answer.recorded, answer.reason, answer.spans, answer.dropped}));
}

}  // namespace stepscope
