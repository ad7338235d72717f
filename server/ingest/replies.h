#pragma once

#include <string>

#include "server/ingest/group.h"

namespace stepscope {

// What the sender of a push is told.

PushReply Refused(int status, std::string code, std::string detail);

// What became of one more part of a push, added to what became of those before it.
void Add(PushOutcome& sum, const PushOutcome& part);

// Once the push is stored as the outcome says.
PushReply ReplyTo(const CheckedPush& push, const PushOutcome& outcome, Time now);

}  // namespace stepscope
