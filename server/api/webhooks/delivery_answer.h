#pragma once

#include "core/base/json.h"
#include "server/front/route.h"
#include "server/store/webhooks/deliveries.h"

namespace stepscope {

// A message and its attempts, as the log shows them.
OrderedJson ToJson(const DeliveryRow& delivery);

}  // namespace stepscope
