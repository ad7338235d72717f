#pragma once

#include "server/app/settings.h"
#include "server/front/proxy.h"

namespace stepscope {

// What --trusted-proxy and its companions say; reads the file with the secret. Errors name the
// option.
Result<ProxyTrust> LoadProxyTrust(const Settings& settings);

}  // namespace stepscope
