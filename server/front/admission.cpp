#include "server/front/admission.h"

#include <utility>

#include "core/base/peer_address.h"
#include "core/base/text.h"
#include "server/access/scope.h"
#include "server/front/credentials.h"
#include "server/front/denial.h"
#include "server/front/gate.h"

namespace stepscope {
namespace {

Admission Refuse(Reply reply) {
  return {Admission::kRefuse, std::move(reply)};
}

// Whether a browser adds by itself what says who asks, so that a foreign page could use it.
bool IsAmbient(const Credentials& shown, const Request& head) {
  if (head.caller) return head.caller->how == Caller::kProxy;
  return shown.session && !shown.token;
}

Identity Identify(Access& access, const Request& head, const Credentials& shown, MayWait may_wait) {
  if (head.caller) return {Identity::kKnown, head.caller, {}};  // a proxy said so
  return may_wait == MayWait::kYes ? access.Ask(shown, head.peer) : access.Check(shown, head.peer);
}

Reply NotGranted(const Request& head, Right right) {
  const Caller& caller = *head.caller;
  if (GrantOf(right, caller.role) == Grant::kAllJobs) {
    return Forbid(head, "this concerns all jobs, and the token is for some");
  }
  return Forbid(head, Format("this needs the right \"{}\", which the role {} does not have",
                             RowOf(right).word, ToText(caller.role)));
}

}  // namespace

std::optional<Reply> CheckRight(const Request& head, const Match& match) {
  const Right right = match.route->right;
  if (!May(head.caller.get(), right, IsThisMachine(head.peer))) {
    return head.caller ? NotGranted(head, right) : Deny({}, head);
  }
  const auto job = match.parameters.find(kJobParameter);
  if (job == match.parameters.end() || Covers(head.caller->scopes, job->second)) return {};
  return Forbid(head, Format("the token is not for job {}", Printable(job->second, 64)));
}

Admission Admit(Access& access, Request& head, const Match& match, MayWait may_wait) {
  const Right right = match.route->right;
  const Credentials shown = CredentialsOf(head);
  if (const auto problem = CheckOrigin(head, IsAmbient(shown, head), *match.route)) {
    return Refuse(ToReply(*problem, head));
  }
  if (right == Right::kOpen) return {};
  Identity identity = Identify(access, head, shown, may_wait);
  if (identity.kind == Identity::kAsk) return {Admission::kAsk};
  if (identity.kind == Identity::kKnown) head.caller = std::move(identity.caller);
  const bool nobody = identity.kind == Identity::kNobody || right == Right::kProbe;
  if (!head.caller && !nobody) return Refuse(Deny(identity, head));
  auto refusal = CheckRight(head, match);
  return refusal ? Refuse(std::move(*refusal)) : Admission{};
}

}  // namespace stepscope
