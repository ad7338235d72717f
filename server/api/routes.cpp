#include "server/api/routes.h"

#include "server/front/problem.h"

namespace stepscope {

Route ForDatabase(const Api& api, Right right, std::string_view method, std::string_view pattern,
                  DatabaseCall call) {
  return {
      .method = method,
      .pattern = pattern,
      .handler =
          [&api, call = std::move(call)](const Request& request, const PathParameters& parameters) {
            Result<Database::Lease> lease = api.database.Acquire();
            if (!lease) return ToReply(lease.error(), request);
            Result<Reply> reply = call(api, **lease, request, parameters);
            return reply ? std::move(*reply) : ToReply(reply.error(), request);
          },
      .right = right};
}

std::vector<Route> ApiRoutes(const Api& api) {
  std::vector<Route> routes;
  for (const auto& part : {JobRoutes(api), MetricRoutes(api), StepRoutes(api), RuleRoutes(api),
                           FindingRoutes(api), WebhookRoutes(api), DeliveryRoutes(api),
                           IngestRoutes(api), HealthRoutes(api), PrometheusRoutes(api)}) {
    routes.insert(routes.end(), part.begin(), part.end());
  }
  return routes;
}

}  // namespace stepscope
