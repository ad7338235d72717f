#pragma once

#include <variant>

#include "server/ingest/check/received_push.h"

namespace stepscope {

// Checks every frame, and keeps what can be stored. Schemas that memory did not have are loaded.
// Nothing is written.
using CheckOfPush = std::variant<CheckedPush, PushRefusal>;
CheckOfPush CheckPush(ReceivedPush received, const LoadSchema& load);

}  // namespace stepscope
