#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/marks/closer.h"
#include "agent/marks/marks_socket.h"
#include "agent/top/jobs_text.h"
#include "core/base/descriptor.h"
#include "core/base/worker.h"

namespace stepscope {

// Sends the state of the jobs to each client that connects, once, and closes: `top` asks again each
// second. It reads nothing, takes no descriptors, waits for no client, and answers at most 50 a
// second. One thread of its own.
class LiveSocket {
 public:
  // Listens at `path`. Errors are as for Intake::Start.
  static Result<std::unique_ptr<LiveSocket>> Start(const std::string& path,
                                                   const SocketAccess& access,
                                                   std::function<std::string()> text);
  ~LiveSocket();

 private:
  LiveSocket(std::string path, Descriptor listener, std::function<std::string()> text);
  void Run(std::stop_token stop);

  const std::string path_;
  const Closer closer_;
  Descriptor listener_;
  const std::function<std::string()> text_;
  Worker worker_;
};

// Asks the agent at this path; Unavailable when it does not answer within 200 ms, or with more than
// 256 KiB.
Result<std::string> AskAgent(const std::string& path);

// Appended to the path of an agent's socket.
inline constexpr const char* kLiveEnding = ".top";

}  // namespace stepscope
