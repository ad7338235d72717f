// POST /jobs/{name}/samples: samples from anyone, as columns in JSON.

#include "core/model/names.h"
#include "server/api/http/answer.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/front/denial.h"
#include "server/ingest/check/read_samples.h"
#include "server/ingest/ingest.h"

namespace stepscope {
namespace {

constexpr const char* kSamplesAgainSeconds = "600";  // the answer where a day's quota is used up

Reply Refuse(const SampleFault& fault, const Request& request) {
  const std::string where = fault.pointer.empty() ? "" : fault.pointer.substr(1) + ": ";
  const Fault one{fault.pointer, "", fault.detail};
  return ToReply(Problem{fault.code, where + fault.detail, {one}, {}}, request);
}

Reply ToReply(const PushReply& push, const Samples& samples, const Request& request) {
  if (push.status == 200) return JsonReply({{"stored", push.samples}, {"node", samples.node}});
  // An agent is told to stop for a job that is gone; here the path names a job that does not exist.
  const bool unknown = push.problem_code == "unknown-job";
  if (push.status == 500) return ToReply(Internal("samples: " + push.detail), request);
  Reply reply =
      ToReply(Problem{unknown ? "not-found" : push.problem_code, push.detail, {}, {}}, request);
  if (push.status == 429) reply.headers.emplace_back("Retry-After", kSamplesAgainSeconds);
  return reply;
}

Reply PostSamples(const Api& api, const Request& request, const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);
  const std::string& job = path.at("name");
  if (const Status good = CheckJobName(job); !good) return ToReply(good.error(), request);

  const auto read = ReadSamples(request.body);
  if (const auto* fault = std::get_if<SampleFault>(&read)) return Refuse(*fault, request);
  const Samples& samples = std::get<Samples>(read);

  const Sending sending{job, samples.node, request.body.size()};
  const SendCheck refused = *api.senders.Check(*request.caller, sending, MayWait::kYes);
  if (!refused) return ToReply(refused.error(), request);
  if (*refused) return ToReply(**refused, request);

  const PushReply push = api.ingest.PushSamples(job, samples, MakerOf(*request.caller));
  return ToReply(push, samples, request);
}

}  // namespace

std::vector<Route> SampleRoutes(const Api& api) {
  return {
      {.method = "POST",
       .pattern = "/api/v1/jobs/{name}/samples",
       .handler = [&api](const Request& request,
                         const PathParameters& path) { return PostSamples(api, request, path); },
       .most_body = kMaxPushBytes,
       .right = Right::kSend,
       .traffic = Traffic::kSamples}};
}

}  // namespace stepscope
