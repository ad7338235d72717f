#pragma once

#include "server/access/access.h"
#include "server/access/senders.h"
#include "server/edge/http/message.h"

namespace stepscope {

// 401, 429 or 503 to someone who is not known. The text is the same for a token that is unknown,
// expired or revoked. A cookie that is no good any more is taken back.
Reply Deny(const Identity& identity, const Request& head);

// 403 or 429 to a sender who may not send this.
Reply ToReply(const SendRefusal& refusal, const Request& head);

// 403 to a caller whose role or scopes are not enough.
Reply Forbid(const Request& head, std::string detail);

}  // namespace stepscope
