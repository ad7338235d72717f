// GET /audit: changes, and who made them.

#include "server/store/access/audit.h"

#include "server/api/http/answer.h"
#include "server/api/http/page.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"

namespace stepscope {
namespace {

OrderedJson AuditJson(const AuditRow& row) {
  OrderedJson json = OrderedJson::object();
  PutTime(json, "at", row.at_us);
  json["token_id"] = NullIfEmpty(row.token_id);
  json["name"] = row.name;
  json["peer"] = NullIfEmpty(row.peer);
  json["action"] = row.action;
  json["target"] = row.target;
  json["request_id"] = NullIfEmpty(row.request_id);
  return json;
}

Result<Reply> ListChanges(const Api&, Connection& connection, const Request& request,
                          const PathParameters&) {
  const Query query(request, kPageQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<AuditPage> page =
      ListAudit(connection, query.Text("cursor"), static_cast<int>(query.Int("limit", 50)));
  if (!page) return PageFault(request, page.error());
  return JsonReply(PageJson(*page, AuditJson));
}

}  // namespace

std::vector<Route> AuditRoutes(const Api& api) {
  return {ForDatabase(api, Right::kAdminister, "GET", "/api/v1/audit", ListChanges)};
}

}  // namespace stepscope
