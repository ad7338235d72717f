#pragma once

#include <string>

#include "server/ingest/group.h"

namespace stepscope {

// Replies to the senders of pushes.

PushReply Refused(int status, std::string code, std::string detail);

// Adds the outcome of one more part of a push to that of the parts before it.
void Add(PushOutcome& sum, const PushOutcome& part);

// The reply once the push is stored as the outcome says.
PushReply ReplyTo(const CheckedPush& push, const PushOutcome& outcome, Time now);

}  // namespace stepscope
