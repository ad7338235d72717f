// GET /metrics-catalog: every metric that agents send, as the table of metrics says.

#include "core/model/metric.h"
#include "server/api/http/answer.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/front/problem.h"

namespace stepscope {
namespace {

Reply ListMetrics(const Request& request, const PathParameters&) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);
  OrderedJson items = OrderedJson::array();
  for (const Metric& metric : Metrics()) {
    items.push_back({{"metric", metric.name},
                     {"device", ToText(metric.device)},
                     {"unit", metric.unit},
                     {"decimals", metric.scale},
                     {"help", metric.help}});
  }
  return JsonReply({{"items", std::move(items)}});
}

}  // namespace

std::vector<Route> MetricsCatalogRoutes(const Api&) {
  return {{.method = "GET",
           .pattern = "/api/v1/metrics-catalog",
           .handler = ListMetrics,
           .right = Right::kRead}};
}

}  // namespace stepscope
