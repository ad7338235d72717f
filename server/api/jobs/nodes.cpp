// DELETE /nodes/{id}/binding: frees a node for another token.

#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/store/jobs/node_bindings.h"

namespace stepscope {
namespace {

Result<Reply> ReleaseNode(const Api&, Connection& connection, const Request& request,
                          const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);

  const Status released = DeleteNodeBinding(connection, path.at("id"));
  if (!released) return released.error();
  return Reply{.status = 204, .content_type = "", .body = "", .headers = {}};
}

}  // namespace

std::vector<Route> NodeRoutes(const Api& api) {
  return {Forgetting(ForChange(api, Right::kAdminister, "DELETE", "/api/v1/nodes/{id}/binding",
                               "node.release", ReleaseNode),
                     [&api](const std::string& id) { api.senders.ForgetNode(id); })};
}

}  // namespace stepscope
