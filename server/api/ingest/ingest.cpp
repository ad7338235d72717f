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

// The job of a push: all its frames are of one job and node, which ingest checks, so the first one
// names it. nullopt for a push that cannot be read; ingest reports that.
std::optional<Sending> WhatIsSent(std::string_view body) {
  const auto frames = SplitPush(body);
  if (!frames || frames->empty()) return std::nullopt;
  const Result<FrameHead> head = PeekHead(frames->front());
  if (!head) return std::nullopt;
  return Sending{head->job, head->node, body.size(), head->kind == FrameKind::kLifecycle};
}

std::optional<Reply> ToRefusal(const SendCheck& refused, const Request& head) {
  if (!refused) return ToReply(refused.error(), head);
  if (*refused) return ToReply(**refused, head);
  return std::nullopt;
}

std::optional<Reply> Refusal(const Api& api, const Request& head, std::string_view body) {
  const Query query(head, {});
  if (!query.faults().empty()) return query.Refusal(head);
  const auto sending = WhatIsSent(body);
  return sending ? ToRefusal(api.senders.Check(*head.caller, *sending), head) : std::nullopt;
}

TakeReply Answering(const std::shared_ptr<const Request>& head, const Respond& respond) {
  return [head, respond](const PushReply& reply) { respond(ToReply(reply, *head)); };
}

void Push(const Api& api, const std::shared_ptr<const Request>& head, std::string_view body,
          const Respond& respond) {
  if (auto refusal = Refusal(api, *head, body)) return respond(std::move(*refusal));
  api.ingest.Push(body, MakerOf(*head->caller), Answering(head, respond));
}

// Anything odd is left to Push. Checked first, so that pushes that need reading are counted there
// alone.
bool PushNow(const Api& api, const std::shared_ptr<const Request>& head, std::string_view body,
             const Respond& respond) {
  if (!head->query.empty()) return false;
  auto push = api.ingest.ReadNow(body);
  if (!push) return false;
  const auto checked =
      api.senders.CheckNow(*head->caller, {push->job, push->node, body.size(), false});
  if (!checked) return false;
  if (auto refusal = ToRefusal(*checked, *head)) return respond(std::move(*refusal)), true;
  api.ingest.Push(std::move(*push), body.size(), MakerOf(*head->caller), Answering(head, respond));
  return true;
}

}  // namespace

std::vector<Route> IngestRoutes(const Api& api) {
  return {{.method = "POST",
           .pattern = "/api/v1/ingest/frames",
           .later = [&api](const std::shared_ptr<const Request>& head, const std::string& body,
                           const Respond& respond) { Push(api, head, body, respond); },
           .now = [&api](const std::shared_ptr<const Request>& head, std::string_view body,
                         const Respond& respond) { return PushNow(api, head, body, respond); },
           .answer_within = kPushAnsweredWithin,
           .body_type = kFramesContentType,
           .most_body = kMaxPushBytes,
           .right = Right::kSend,
           .traffic = Traffic::kFrames}};
}

}  // namespace stepscope
