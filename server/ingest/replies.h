#pragma once

#include <string>

#include "server/ingest/group.h"

namespace stepscope {

// What the sender of a push is told.

PushReply Refused(int status, std::string code, std::string detail);

// Once the push is stored as the outcome says.
PushReply ReplyTo(const CheckedPush& push, const PushOutcome& outcome, Time now);

}  // namespace stepscope
