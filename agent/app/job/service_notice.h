#pragma once

#include <string_view>

namespace stepscope {

// Tells systemd how it goes, such as "READY=1"; nothing where it did not ask (NOTIFY_SOCKET).
void NotifyService(std::string_view state);

}  // namespace stepscope
