// GET /removals: jobs that were removed.

#include "server/api/http/answer.h"
#include "server/api/http/page.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/store/retention/removal_list.h"

namespace stepscope {
namespace {

OrderedJson RemovalJson(const RemovalRow& row) {
  OrderedJson json = {{"name", row.name}, {"reason", row.reason}};
  PutTime(json, "removed", row.asked_us);
  json["rows"] = row.rows;
  json["bytes"] = row.bytes;
  PutTime(json, "ended", row.ended_us);
  return json;
}

Result<Reply> ListRemoved(const Api&, Connection& connection, const Request& request,
                          const PathParameters&) {
  const Query query(request, kPageQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<RemovalPage> page =
      ListRemovedJobs(connection, request.caller->scopes, query.Text("cursor"),
                      static_cast<int>(query.Int("limit", 50)));
  if (!page) return PageFault(request, page.error());
  return JsonReply(PageJson(*page, RemovalJson));
}

}  // namespace

std::vector<Route> RemovedRoutes(const Api& api) {
  return {ForDatabase(api, Right::kRead, "GET", "/api/v1/removals", ListRemoved)};
}

}  // namespace stepscope
