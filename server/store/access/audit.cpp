#include "server/store/access/audit.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kInsertAudit[] = R"(
insert into audit (at_us, token_id, name, action, target, request_id, peer)
values ($1, $2, $3, $4, $5, $6, $7))";
constexpr char kList[] = R"(
select audit_id, at_us, token_id, name, action, target, request_id, peer
from audit
where audit_id < $1
order by audit_id desc
limit $2)";

}  // namespace

Status InsertAudit(Connection& connection, const AuditRow& row) {
  return Done(connection.Query(kInsertAudit, {row.at_us, row.token_id, row.name, row.action,
                                              row.target, row.request_id, row.peer}));
}

Result<AuditPage> ListAudit(Connection& connection, const std::string& after, int limit) {
  const Result<Rows> total = connection.Query("select count(*) from audit");
  if (!total) return total.error();
  std::int64_t below = INT64_MAX;
  if (!after.empty()) {
    const Result<Json> position = DecodeCursor(after, Json::array({0}));
    if (!position) return position.error();
    below = (*position)[0].get<std::int64_t>();
  }
  const Result<Rows> rows = connection.Query(kList, {below, limit + 1});
  if (!rows) return rows.error();
  AuditPage page;
  page.total = total->Int(0, 0);
  const std::size_t most = static_cast<std::size_t>(limit);
  for (std::size_t i = 0; i < std::min(rows->size(), most); ++i) {
    page.items.push_back({rows->Int(i, 0), rows->Int(i, 1), rows->Text(i, 2), rows->Text(i, 3),
                          rows->Text(i, 4), rows->Text(i, 5), rows->Text(i, 6), rows->Text(i, 7)});
  }
  if (rows->size() > most) page.next = EncodeCursor(Json::array({page.items.back().audit_id}));
  return page;
}

}  // namespace stepscope
