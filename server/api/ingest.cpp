// POST /ingest/frames: where agents send.

#include "server/ingest/ingest.h"

#include "core/wire/frame.h"
#include "server/api/answer.h"
#include "server/api/query.h"
#include "server/api/routes.h"
#include "server/front/denial.h"

namespace stepscope {
namespace {

constexpr const char* kAskAgainSeconds = "600";  // where a day's worth is used up

Reply ToReply(const PushReply& push, const Request& request) {
  if (push.status == 200) {
    return {.status = 200,
            .content_type = "application/json",
            .body = EncodePushAnswer(push.answer),
            .headers = {}};
  }
  Problem problem{push.problem_code, push.detail, {}, {}};
  if (push.problem_code == "gap") problem.expected = push.expected;
  Reply reply = ToReply(problem, request);
  if (push.status == 429) reply.headers.emplace_back("Retry-After", kAskAgainSeconds);
  return reply;
}

// All frames of a push are of one job and node, which ingest sees to: the first says which. Nothing
// for a push that cannot be read; ingest says what is wrong with it.
std::optional<Sending> WhatIsSent(std::string_view body) {
  const auto frames = SplitPush(body);
  if (!frames || frames->empty()) return std::nullopt;
  const Result<FrameHead> head = PeekHead(frames->front());
  if (!head) return std::nullopt;
  return Sending{head->job, head->node, body.size(), head->kind == FrameKind::kLifecycle};
}

Reply Push(const Api& api, const Request& request) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);

  if (const auto sending = WhatIsSent(request.body)) {
    const auto refused = api.senders.Check(*request.caller, *sending);
    if (!refused) return ToReply(refused.error(), request);
    if (*refused) return ToReply(**refused, request);
  }

  return ToReply(api.ingest.Push(request.body, MakerOf(*request.caller)), request);
}

}  // namespace

std::vector<Route> IngestRoutes(const Api& api) {
  return {{.method = "POST",
           .pattern = "/api/v1/ingest/frames",
           .handler = [&api](const Request& request,
                             const PathParameters&) { return Push(api, request); },
           .body_type = kFramesContentType,
           .most_body = kMaxPushBytes,
           .right = Right::kSend,
           .traffic = Traffic::kFrames}};
}

}  // namespace stepscope
