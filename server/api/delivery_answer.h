#pragma once

#include "core/base/json.h"
#include "server/front/route.h"
#include "server/store/webhooks/webhooks.h"

namespace stepscope {

// A message and its attempts, as the log shows them.
OrderedJson ToJson(const DeliveryRow& delivery);

// The number in the path; NotFound for what cannot be one.
Result<std::int64_t> ReadId(const PathParameters& path, std::string_view what);

}  // namespace stepscope
