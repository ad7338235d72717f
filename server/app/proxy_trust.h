#pragma once

#include "server/app/settings.h"
#include "server/front/proxy.h"

namespace stepscope {

// The trusted proxies of --trusted-proxy and its companions; reads the file with the secret. Errors
// name the option.
Result<ProxyTrust> LoadProxyTrust(const Settings& settings);

}  // namespace stepscope
