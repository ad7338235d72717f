#pragma once

#include <functional>
#include <string>

namespace stepscope {

// Starts a named thread that nobody joins, with all signals blocked: for calls into the system that
// nothing can interrupt. `body` shares ownership of everything it touches, because it may outlive
// whoever started it. False when there is no thread to be had.
bool StartDetachedThread(const std::string& name, std::function<void()> body);

}  // namespace stepscope
