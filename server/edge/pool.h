#pragma once

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "server/edge/socket.h"

namespace stepscope {

// Threads that serve connections, with a stack of 8 MB whatever the shell's limit says (parsers of
// libraries recurse). Stop and destruction wait for the calls that run.
class ConnectionPool {
 public:
  using Serve = std::function<void(Socket)>;

  ConnectionPool(std::size_t threads, std::size_t most_waiting, Serve serve);
  ~ConnectionPool() { Stop(); }
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  // False, and the connection is closed, when too many wait.
  bool Add(Socket socket);

  std::size_t waiting() const;

  // Takes no more; those that wait are closed.
  void Stop();

 private:
  void Run();
  std::optional<Socket> Next();  // waits; none when stopped
  static void* Start(void* pool);

  const std::size_t most_waiting_;
  const Serve serve_;
  // Not a Guarded: that wakes everyone for each connection, and here one is enough.
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Socket> queue_;
  bool stopped_ = false;
  std::vector<pthread_t> threads_;
};

}  // namespace stepscope
