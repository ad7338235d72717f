// /deliveries: the log of sent messages.

#include "server/store/webhooks/deliveries.h"
#include "server/api/http/answer.h"
#include "server/api/http/body.h"
#include "server/api/http/find_job.h"
#include "server/api/http/page.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/api/webhooks/delivery_answer.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMostId = 999'999'999'999'999'999;
constexpr QueryParameter kListQuery[] = {
    {"webhook", QueryParameter::kInteger, 1, kMostId}, {"job"}, kCursorParameter, kLimitParameter};

Result<Reply> ListAllDeliveries(const Api&, Connection& connection, const Request& request,
                                const PathParameters&) {
  const Query query(request, kListQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  if (query.Has("job")) {
    const Result<JobRow> job = FindJob(connection, query.Text("job"));
    if (!job) return job.error();
  }
  const Result<DeliveryPage> page =
      ListDeliveries(connection, query.MaybeInt("webhook"), query.Text("job"), query.Text("cursor"),
                     static_cast<int>(query.Int("limit", 50)));
  if (!page) return PageFault(request, page.error());
  return JsonReply(PageJson(*page, ToJson));
}

Result<Reply> RetryOneDelivery(const Api&, Connection& connection, const Request& request,
                               const PathParameters& path) {
  const Query query(request, {});
  Body body(request);
  body.AllowOnly(body.root(), "", {});
  const Result<std::int64_t> id = ReadId(path, "delivery");

  if (!query.faults().empty()) return query.Refusal(request);
  if (!body.faults().empty()) return body.Refusal(request);
  if (!id) return id.error();

  const Result<DeliveryRow> delivery = RetryDelivery(connection, *id);
  if (!delivery && delivery.error().code == Code::kConflict) {
    return ToReply(Problem{"delivery-waits", delivery.error().message, {}, {}}, request);
  }
  if (!delivery) return delivery.error();

  return JsonReply(ToJson(*delivery), 202);
}

}  // namespace

std::vector<Route> DeliveryRoutes(const Api& api) {
  return {ForDatabase(api, Right::kAlert, "GET", "/api/v1/deliveries", ListAllDeliveries),
          ForChange(api, Right::kAlert, "POST", "/api/v1/deliveries/{id}/retry", "delivery.retry",
                    RetryOneDelivery)};
}

}  // namespace stepscope
