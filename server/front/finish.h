#pragma once

#include "core/base/time.h"
#include "server/edge/http/message.h"

namespace stepscope {

// Completes an answer with what every one gets: security headers, request id, Date, Server-Timing,
// no-store unless the handler chose otherwise; 304 when the client has it already; zstd or gzip for
// large JSON.
void Finish(const Request& request, Time now, Duration took, Reply& reply);

}  // namespace stepscope
