#pragma once

#include <string>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "server/edge/address.h"

namespace stepscope {

// An accepted connection, or why there is none.
struct Accepted {
  Descriptor descriptor;
  std::string peer;  // its address; "unix" on a unix socket
  int fault = 0;     // errno when there is no descriptor
};

// A listening socket, non-blocking and with a long backlog; the file of a unix socket goes with it.
// For one thread at a time.
class Listener {
 public:
  // Port 0: any free one. A file that a dead server left is replaced. Errors name the address and
  // the way out.
  static Result<Listener> Open(const ListenAddress& address);

  Listener(Listener&&) = default;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  int descriptor() const { return descriptor_.get(); }
  bool local_file() const { return !address_.path.empty(); }
  int port() const;  // the port that it really listens on; 0 for a unix socket

  bool HasNext() const;

  // The next connection, non-blocking and without delay for small answers.
  Accepted Accept() const;

 private:
  Listener(Descriptor descriptor, ListenAddress address)
      : descriptor_(std::move(descriptor)), address_(std::move(address)) {}

  Descriptor descriptor_;
  ListenAddress address_;
};

}  // namespace stepscope
