// POST /ingest/frames: the frames of agents.

#include "server/ingest/ingest.h"

#include "core/wire/frame.h"
#include "server/api/http/answer.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/front/denial.h"

namespace stepscope {
namespace {

constexpr const char* kAskAgainSeconds = "600";  // the answer where a day's quota is used up

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

std::optional<Reply> ToRefusal(const SendCheck& check, const Request& head) {
  if (!check) return ToReply(check.error(), head);
  if (*check) return ToReply(**check, head);
  return std::nullopt;
}

// False where it may not wait and would have to. A push whose owner cannot be read is not counted
// for anybody; ingest says what is wrong with it.
bool Push(const Api& api, const std::shared_ptr<const Request>& head, std::string_view body,
          const Respond& respond, MayWait may_wait) {
  const Query query(*head, {});
  if (!query.faults().empty()) return respond(query.Refusal(*head)), true;
  auto received = api.ingest.Receive(body, may_wait);
  if (!received) return false;
  if (const CheckedPush& push = received->push; !push.job.empty()) {
    const auto check = api.senders.Check(
        *head->caller, {push.job, push.node, body.size(), received->opens}, may_wait);
    if (!check) return false;
    if (auto refusal = ToRefusal(*check, *head)) return respond(std::move(*refusal)), true;
  }
  api.ingest.Push(std::move(*received), MakerOf(*head->caller),
                  [head, respond](const PushReply& reply) { respond(ToReply(reply, *head)); });
  return true;
}

}  // namespace

std::vector<Route> IngestRoutes(const Api& api) {
  return {{.method = "POST",
           .pattern = "/api/v1/ingest/frames",
           .later = [&api](const std::shared_ptr<const Request>& head, std::string_view body,
                           const Respond& respond,
                           MayWait may_wait) { return Push(api, head, body, respond, may_wait); },
           .at_once = true,
           .answer_within = kPushAnsweredWithin,
           .body_type = kFramesContentType,
           .most_body = kMaxPushBytes,
           .right = Right::kSend,
           .traffic = Traffic::kFrames}};
}

}  // namespace stepscope
