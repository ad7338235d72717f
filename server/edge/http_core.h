#pragma once

#include <memory>

#include "core/base/time.h"
#include "server/edge/handlers.h"
#include "server/edge/socket.h"

namespace stepscope {

struct HttpOptions {
  std::size_t threads = 64;
  std::size_t most_waiting = 256;  // connections beyond those being served
  Duration head_within = 10s;      // from the first byte of a request
  Duration body_within = 10s;      // and 1 s more for each 64 KiB
  Duration write_within = 30s;
  Duration idle_within = 5s;  // a connection between two requests
  int requests_per_connection = 100;
};

// One connection as cpp-httplib reads and answers it, request by request, fed within the bounds of
// the options. For one thread; the references outlive it.
class HttpCore {
 public:
  HttpCore(const EdgeHandlers& handlers, Socket& socket, const HttpOptions& options);
  ~HttpCore();

  // One request and its answer; says whether the connection may carry another. `last` tells the
  // client that it will not.
  bool Exchange(bool last);

  // Whether a further request, or a part of it, was read already.
  bool buffered() const;

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace stepscope
