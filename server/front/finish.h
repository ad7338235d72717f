#pragma once

#include "core/base/time.h"
#include "server/edge/http/message.h"

namespace stepscope {

// What every answer gets (trust.md 3.8): security headers, request id, Server-Timing, no-store
// unless the handler chose otherwise; 304 when the client has it already; zstd or gzip for large
// JSON.
void Finish(const Request& request, Duration took, Reply& reply);

}  // namespace stepscope
