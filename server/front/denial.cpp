#include "server/front/denial.h"

#include "core/base/text.h"
#include "server/front/credentials.h"
#include "server/front/problem.h"

namespace stepscope {
namespace {

Reply Unauthorized(const Request& head, std::string detail) {
  Reply reply = ToReply(Problem{"unauthorized", std::move(detail), {}, {}}, head);
  reply.headers.emplace_back("WWW-Authenticate", "Bearer");
  return reply;
}

Reply WithWait(Reply reply, Duration wait) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
  reply.headers.emplace_back("Retry-After", std::to_string(seconds));
  return reply;
}

}  // namespace

Reply Deny(const Identity& identity, const Request& head) {
  if (identity.kind == Identity::kUnavailable) {
    return Busy(head, "who asks cannot be looked up now; try again");
  }
  if (identity.kind == Identity::kTooMany) {
    return WithWait(
        ToReply(Problem{"too-many-requests", "too many bad tokens from this address", {}, {}},
                head),
        identity.retry_after);
  }
  if (identity.kind == Identity::kNobody) {
    return Unauthorized(head, "this call needs a token, as \"Authorization: Bearer st_...\"");
  }
  Reply reply = Unauthorized(head, "the token is not valid");
  const Credentials shown = CredentialsOf(head);
  if (shown.session && !shown.token) {
    reply.headers.emplace_back("Set-Cookie", SessionCookie(head, "", 0));
  }
  return reply;
}

Reply ToReply(const SendRefusal& refusal, const Request& head) {
  Reply reply = ToReply(Problem{refusal.code, refusal.detail, {}, {}}, head);
  if (refusal.retry_after == Duration::zero()) return reply;
  return WithWait(std::move(reply), refusal.retry_after);
}

Reply Forbid(const Request& head, std::string detail) {
  return ToReply(Problem{"forbidden", std::move(detail), {}, {}}, head);
}

}  // namespace stepscope
