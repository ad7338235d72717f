#pragma once

#include <string_view>

namespace stepscope {

// Sends systemd a state, such as "READY=1"; does nothing without NOTIFY_SOCKET.
void NotifyService(std::string_view state);

}  // namespace stepscope
