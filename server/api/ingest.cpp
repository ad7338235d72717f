// POST /ingest/frames: where agents send.

#include "server/ingest/ingest.h"

#include "core/wire/frame.h"
#include "server/api/answer.h"
#include "server/api/query.h"
#include "server/api/routes.h"

namespace stepscope {
namespace {

Reply ToReply(const PushReply& push, const Request& request) {
  if (push.status == 200) {
    return {.status = 200,
            .content_type = "application/json",
            .body = EncodePushAnswer(push.answer),
            .headers = {}};
  }
  Problem problem{push.problem_code, push.detail, {}, {}};
  if (push.problem_code == "gap") problem.expected = push.expected;
  return ToReply(problem, request);
}

}  // namespace

std::vector<Route> IngestRoutes(const Api& api) {
  return {{.method = "POST",
           .pattern = "/api/v1/ingest/frames",
           .handler =
               [&api](const Request& request, const PathParameters&) {
                 const Query query(request, {});
                 if (!query.faults().empty()) return query.Refusal(request);
                 return ToReply(api.ingest.Push(request.body), request);
               },
           .body_type = kFramesContentType,
           .most_body = kMaxPushBytes,
           .right = Right::kSend,
           .traffic = Traffic::kFrames}};
}

}  // namespace stepscope
