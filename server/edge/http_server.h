#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "core/base/worker.h"
#include "server/edge/http_core.h"
#include "server/edge/pool.h"
#include "server/edge/socket.h"

namespace stepscope {

// Speaks HTTP/1.1 with cpp-httplib over sockets of our own: accepts, hands each connection to a
// thread, and gives the handlers what can be read as a request within bounds of time and size. Idle
// connections are closed early when others wait.
class HttpServer {
 public:
  HttpServer(HttpOptions options, EdgeHandlers handlers);
  ~HttpServer() { Stop(Duration::zero()); }

  // Serves until Stop. Errors: the address is in use, or not ours.
  Status Listen(const std::string& host, int port);
  void Listen(Socket listener);
  int port() const { return port_; }

  // Accepts no more, closes idle connections, and gives running requests the time to end; then, or
  // when `hurry` is asked for, their sockets are shut down. Returns when no handler runs any more.
  void Stop(Duration grace, std::stop_token hurry = {});

  std::size_t connections() const;

 private:
  void Accept(std::stop_token stop);
  void Serve(Socket socket);
  bool WaitForRequest(const Socket& socket) const;

  const HttpOptions options_;
  const EdgeHandlers handlers_;
  std::atomic<bool> stopping_{false};
  std::unique_ptr<Socket> listener_;
  int port_ = 0;
  Guarded<std::set<const Socket*>> open_;
  std::unique_ptr<ConnectionPool> pool_;
  Worker acceptor_;
};

}  // namespace stepscope
