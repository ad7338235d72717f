#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// The webhook-signature of a message (Standard Webhooks): "v1," and the base64 of HMAC-SHA256 over
// "id.timestamp.body". `secret` is "whsec_..."; Invalid when it is not.
Result<std::string> SignWebhook(std::string_view secret, std::string_view id,
                                std::int64_t timestamp_seconds, std::string_view body);

}  // namespace stepscope
