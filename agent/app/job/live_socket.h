#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/marks/marks_socket.h"
#include "agent/top/jobs_text.h"
#include "core/base/descriptor.h"
#include "core/base/worker.h"

namespace stepscope {

// Tells everybody who connects how the jobs do, once, and hangs up: `top` asks again each second.
// It reads nothing, waits for nobody, and answers at most 50 a second. One thread of its own.
class LiveSocket {
 public:
  // At `path`, for those who may connect. Invalid or Unavailable as Intake::Start.
  static Result<std::unique_ptr<LiveSocket>> Start(const std::string& path,
                                                   const SocketAccess& access,
                                                   std::function<std::string()> text);
  ~LiveSocket();

 private:
  LiveSocket(std::string path, Descriptor listener, std::function<std::string()> text);
  void Run(std::stop_token stop);

  const std::string path_;
  const Descriptor listener_;
  const std::function<std::string()> text_;
  Worker worker_;
};

// What the agent at this path says now; Unavailable when it says nothing within 200 ms, or more
// than 256 KiB.
Result<std::string> AskAgent(const std::string& path);

// Behind the path of an agent's socket.
inline constexpr const char* kLiveEnding = ".top";

}  // namespace stepscope
