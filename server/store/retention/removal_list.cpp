#include "server/store/retention/removal_list.h"

#include <algorithm>

#include "server/store/jobs/scope_patterns.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kCount[] = R"(
select count(*)
from removals
where $1 or name = any($2) or name like any($3))";
constexpr char kList[] = R"(
select job_id, name, reason, asked_us, rows, bytes, ended_us
from removals
where ($1 or name = any($2) or name like any($3)) and (asked_us, job_id) < ($4, $5)
order by asked_us desc, job_id desc
limit $6)";

RemovalRow ReadRemoval(const Rows& rows, std::size_t row) {
  RemovalRow removal;
  removal.job_id = rows.Int(row, 0);
  removal.name = rows.Text(row, 1);
  removal.reason = rows.Text(row, 2);
  removal.asked_us = rows.Int(row, 3);
  removal.rows = rows.Int(row, 4);
  removal.bytes = rows.Int(row, 5);
  removal.ended_us = rows.MaybeInt(row, 6);
  return removal;
}

}  // namespace

Result<RemovalPage> ListRemovedJobs(Connection& connection, std::span<const std::string> scopes,
                                    const std::string& after, int limit) {
  std::int64_t before_us = INT64_MAX, before_job = INT64_MAX;
  if (!after.empty()) {
    const Result<Json> position = DecodeCursor(after, Json::array({0, 0}));
    if (!position) return position.error();
    before_us = (*position)[0].get<std::int64_t>();
    before_job = (*position)[1].get<std::int64_t>();
  }
  const ScopePatterns patterns = PatternsOf(scopes);
  std::vector<Parameter> parameters = {scopes.empty(), Parameter::Array(patterns.names),
                                       Parameter::Array(patterns.beginnings)};
  const Result<Rows> total = connection.Query(kCount, parameters);
  if (!total) return total.error();
  parameters.insert(parameters.end(), {before_us, before_job, limit + 1});
  const Result<Rows> rows = connection.Query(kList, parameters);
  if (!rows) return rows.error();
  RemovalPage page;
  page.total = total->Int(0, 0);
  const std::size_t most = static_cast<std::size_t>(limit);
  for (std::size_t i = 0; i < std::min(rows->size(), most); ++i) {
    page.items.push_back(ReadRemoval(*rows, i));
  }
  if (rows->size() > most) {
    const RemovalRow& last = page.items.back();
    page.next = EncodeCursor(Json::array({last.asked_us, last.job_id}));
  }
  return page;
}

}  // namespace stepscope
