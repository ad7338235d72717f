#pragma once

#include <deque>
#include <memory>

#include "core/base/descriptor.h"
#include "core/base/guarded.h"

namespace stepscope {

// Closes what came through a unix socket. The sender of a descriptor decides how long its last
// close() takes, so none happens on the thread that asks for it: sockets no longer linger, messages
// that nobody read are read for the descriptors that they carry, and a few threads that nobody
// joins do the closing. What waits for them is bounded by the files that a process may have open.
// Safe from any thread, never waits.
class SocketCloser {
 public:
  static constexpr int kMostThreads = 8;

  void Close(Descriptor descriptor);

 private:
  struct State {
    std::deque<Descriptor> waiting;
    int threads = 0;
  };
  // Shared with the threads, which may outlive this.
  const std::shared_ptr<Guarded<State>> state_ = std::make_shared<Guarded<State>>();

  static void Work(Guarded<State>& state);
};

}  // namespace stepscope
